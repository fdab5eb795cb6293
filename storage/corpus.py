"""The local corpus in PostgreSQL: what is in a collection, its search, and its one writer."""

import asyncio
import difflib
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from sqlalchemy import RowMapping, TextClause, select, text

from models.corpus import MetadataFilter, QueryVector
from models.errors import BadInput, NotFound
from models.tables import documents, passages
from models.tools import ReadPassage
from storage.corpus_search import hybrid, keyword, semantic
from storage.corpus_shapes import Hit, NewDocument, StoredDocument, VectorCount, storable
from storage.corpus_vectors import (
    as_text,
    dimension_of,
    has_vectors,
    missing_pgvector,
    vector_counts,
)
from storage.corpus_writer import CollectionWriter, stored_documents
from storage.database import Database

__all__ = ["MAX_HITS", "CollectionWriter", "Corpus", "Hit", "NewDocument", "StoredDocument"]

MAX_HITS = 50
ALL_DOCUMENTS: MetadataFilter = MappingProxyType({})
_MAX_QUERY = 2000
_NAMED = 5

_KEYS = text("""
select distinct key from documents, jsonb_object_keys(metadata) as key
where collection = :collection order by key limit 100
""")
_LOCK = text("select pg_advisory_lock(hashtextextended('holdfast corpus ' || :name, 0))")
_UNLOCK = text("select pg_advisory_unlock(hashtextextended('holdfast corpus ' || :name, 0))")
# New words wait in a list that every search reads from end to end: 29 ms a search after an ingest
# of 10,000 passages, 5 ms once they are in the index. Only the index's owner may ask for that.
_INDEX_NOW = text("""
select gin_clean_pending_list(oid) from pg_class
where oid = to_regclass('ix_passages_tsv') and pg_has_role(relowner, 'usage')
""")
_OF_PASSAGES = (
    documents.c.address,
    documents.c.title,
    passages.c.heading,
    passages.c.start_char,
    passages.c.end_char,
    passages.c.text,
)


@dataclass(frozen=True)
class Corpus:
    """All collections; a collection is there when a document is in it."""

    database: Database

    async def search(
        self, collection: str, query: str, limit: int = 6, *, where: MetadataFilter = ALL_DOCUMENTS
    ) -> tuple[Hit, ...]:
        """The best passages by their words, best first; ties in the order of storing.

        Any query will do.

        Raises:
            BadInput: `where` names a key that no document of the collection has.
        """
        return await self._ranked(keyword(where), collection, limit, where, _query(query))

    async def nearest(
        self,
        collection: str,
        vector: QueryVector,
        limit: int = 6,
        *,
        where: MetadataFilter = ALL_DOCUMENTS,
    ) -> tuple[Hit, ...]:
        """The passages nearest in meaning, by the cosine of their vectors of the same model.

        Raises:
            BadConfiguration: pgvector is missing.
            BadInput: as `search`.
        """
        return await self._ranked(semantic(where), collection, limit, where, _vector(vector))

    async def fused(
        self,
        collection: str,
        query: str,
        vector: QueryVector,
        limit: int = 6,
        *,
        where: MetadataFilter = ALL_DOCUMENTS,
    ) -> tuple[Hit, ...]:
        """The best by words and by meaning, by reciprocal rank fusion; ties in order of storing.

        Raises:
            BadConfiguration: pgvector is missing.
            BadInput: as `search`.
        """
        values = _query(query) | _vector(vector)
        return await self._ranked(hybrid(where), collection, limit, where, values)

    async def dimension_of(self, collection: str, model: str) -> int:
        """The dimension of the collection's vectors of the model; 0 where it has none."""
        async with self.database.reading() as connection:
            return await dimension_of(connection, collection, model)

    async def vectors(self, collection: str) -> tuple[VectorCount, ...]:
        """How many passages have vectors, by model."""
        async with self.database.reading() as connection:
            return await vector_counts(connection, collection)

    async def collections(self) -> tuple[str, ...]:
        """The names of all collections, sorted."""
        query = select(documents.c.collection).distinct().order_by(documents.c.collection)
        async with self.database.reading() as connection:
            return tuple((await connection.execute(query)).scalars().all())

    async def read(
        self, collection: str, address: str, start: int = 0, end: int | None = None
    ) -> tuple[ReadPassage, ...]:
        """The document's passages that reach into `start` to `end`, in order.

        Raises:
            NotFound: the collection holds no such document; the message names near ones.
        """
        query = (
            select(*_OF_PASSAGES)
            .join(passages, passages.c.document_id == documents.c.id)
            .where(documents.c.collection == storable(collection))
            .where(documents.c.address == storable(address))
            .order_by(passages.c.position)
        )
        async with self.database.reading() as connection:
            rows = (await connection.execute(query)).mappings().all()
        if not rows:
            known = await self.documents(collection)
            # In a thread: comparing with 10,000 names takes half a second.
            raise NotFound(await asyncio.to_thread(_unknown, address, known))
        found = (_passage(row) for row in rows)
        return tuple(
            passage
            for passage in found
            if passage.end > start and (end is None or passage.start < end)
        )

    async def documents(self, collection: str) -> tuple[StoredDocument, ...]:
        """What the collection holds, by address; empty where nobody stored anything."""
        async with self.database.reading() as connection:
            return await stored_documents(connection, collection)

    @asynccontextmanager
    async def writing(self, collection: str) -> AsyncIterator[CollectionWriter]:
        """The collection's only writer; another one waits here until this one is done.

        Raises:
            StorageAway: PostgreSQL does not answer.
        """
        async with self.database.reading() as connection:
            await connection.execute(_LOCK, {"name": collection})
            await connection.commit()
            try:
                yield CollectionWriter(connection, collection)
                await connection.execute(_INDEX_NOW)
                await connection.commit()
            finally:
                # The lock is the connection's, which goes back to the pool and lives on.
                await connection.rollback()
                await connection.execute(_UNLOCK, {"name": collection})
                await connection.commit()

    async def _ranked(
        self,
        prepared: tuple[TextClause, Mapping[str, Any]],
        collection: str,
        limit: int,
        where: MetadataFilter,
        values: Mapping[str, Any],
    ) -> tuple[Hit, ...]:
        statement, of_filter = prepared
        name = storable(collection)
        bounds = {"collection": name, "limit": max(0, min(limit, MAX_HITS))}
        async with self.database.reading() as connection:
            if "vector" in values and not await has_vectors(connection):
                raise missing_pgvector()
            rows = (
                (await connection.execute(statement, bounds | {**values, **of_filter}))
                .mappings()
                .all()
            )
            if where and not rows:
                known = (await connection.execute(_KEYS, {"collection": name})).scalars().all()
                _check_keys(where, known)
        return tuple(Hit(_passage(row), row["score"]) for row in rows)


def _query(query: str) -> dict[str, Any]:
    return {"query": storable(query[:_MAX_QUERY])}


def _vector(vector: QueryVector) -> dict[str, Any]:
    return {
        "vector": as_text(vector.values),
        "model": vector.model,
        "dimension": len(vector.values),
    }


def _check_keys(where: MetadataFilter, known: Sequence[str]) -> None:
    for key in where:
        if known and key.lower() not in known:
            raise BadInput(f"no document here says {key!r} of itself; filter by {', '.join(known)}")


def _passage(row: RowMapping) -> ReadPassage:
    return ReadPassage(
        address=row["address"],
        title=row["title"],
        heading=row["heading"],
        start=row["start_char"],
        end=row["end_char"],
        text=row["text"],
    )


def _unknown(address: str, known: Sequence[StoredDocument]) -> str:
    addresses = [document.address for document in known]
    near = difflib.get_close_matches(address[:_MAX_QUERY], addresses, _NAMED, 0.5) or addresses
    if not near:
        return f"there is no document {address!r}: the collection is empty"
    return f"there is no document {address!r}; there is {', '.join(map(repr, near[:_NAMED]))}"
