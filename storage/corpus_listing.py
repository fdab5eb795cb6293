"""What collections there are, and what is in one: counts, sizes and dates."""

from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import text

from storage.corpus_shapes import VectorCount, storable
from storage.corpus_vectors import vector_counts
from storage.database import Database

_COLLECTIONS = text("""
select collection, count(*), coalesce(sum(size_bytes), 0), min(added_at), max(added_at),
    coalesce((select passages from collection_words as w
              where w.collection = documents.collection and word = ''), 0)
from documents group by collection order by collection
""")
_DOCUMENTS = text("""
select address, title, size_bytes, added_at, metadata, origin,
    (select count(*) from passages where document_id = documents.id)
from documents where collection = :collection order by address
""")


class CollectionCounts(NamedTuple):
    """A collection as a list shows it."""

    name: str
    documents: int
    size_bytes: int
    first_added_at: datetime
    last_added_at: datetime
    passages: int
    vectors: tuple[VectorCount, ...] = ()


class DocumentCounts(NamedTuple):
    """A document as a list shows it."""

    address: str
    title: str
    size_bytes: int
    added_at: datetime
    metadata: Mapping[str, str | list[str]]
    origin: str
    passages: int


async def collection_counts(database: Database) -> tuple[CollectionCounts, ...]:
    """All collections by name."""
    async with database.reading() as connection:
        rows = [CollectionCounts(*row) for row in await connection.execute(_COLLECTIONS)]
        return tuple(
            [row._replace(vectors=await vector_counts(connection, row.name)) for row in rows]
        )


async def document_counts(database: Database, collection: str) -> tuple[DocumentCounts, ...]:
    """The collection's documents by address; none where nobody added any."""
    async with database.reading() as connection:
        rows = await connection.execute(_DOCUMENTS, {"collection": storable(collection)})
        return tuple(DocumentCounts(*row) for row in rows)
