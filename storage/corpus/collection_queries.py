"""List collections and their documents with counts, sizes and dates."""

from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import text

from holdfast.models.text.storable_text import storable_text
from holdfast.storage.core.database import Database
from holdfast.storage.corpus.corpus_records import VectorCount
from holdfast.storage.corpus.passage_vector_rows import vector_counts

_COLLECTIONS = text("""
select collection, count(*), coalesce(sum(size_bytes), 0), min(added_at), max(added_at),
    coalesce((select passages from collection_words as w
              where w.collection = documents.collection and word = ''), 0),
    coalesce((select language from passages as p
              where p.collection = documents.collection limit 1), 'english')
from documents group by collection order by collection
""")
_DOCUMENTS = text("""
select address, title, size_bytes, added_at, metadata, origin,
    (select count(*) from passages where document_id = documents.id)
from documents where collection = :collection order by address
""")


class CollectionCounts(NamedTuple):
    """One line of a list of collections."""

    name: str
    documents: int
    size_bytes: int
    first_added_at: datetime
    last_added_at: datetime
    passages: int
    language: str
    vectors: tuple[VectorCount, ...] = ()


class DocumentCounts(NamedTuple):
    """One line of a list of documents."""

    address: str
    title: str
    size_bytes: int
    added_at: datetime
    metadata: Mapping[str, str | list[str]]
    origin: str
    passages: int


async def collection_counts(database: Database) -> tuple[CollectionCounts, ...]:
    """Return all collections by name."""
    async with database.reading() as connection:
        rows = [CollectionCounts(*row) for row in await connection.execute(_COLLECTIONS)]
        return tuple(
            [row._replace(vectors=await vector_counts(connection, row.name)) for row in rows]
        )


async def document_counts(database: Database, collection: str) -> tuple[DocumentCounts, ...]:
    """Return the collection's documents by address; empty for an unknown collection."""
    async with database.reading() as connection:
        rows = await connection.execute(_DOCUMENTS, {"collection": storable_text(collection)})
        return tuple(DocumentCounts(*row) for row in rows)
