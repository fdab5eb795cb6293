"""Search and read document collections, and open the one writer of a collection."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from sqlalchemy import RowMapping, TextClause, select, text

from holdfast.models.calls.tool_signatures import SourcePassage
from holdfast.models.corpus.search_criteria import MetadataFilter, QueryVector
from holdfast.models.corpus.search_language import SearchLanguage
from holdfast.models.errors import BadInput, NotFound
from holdfast.models.text.storable_text import storable_text
from holdfast.planning.text.nearest_values import nearest_names
from holdfast.storage.core.database import Database
from holdfast.storage.core.tables.corpus_tables import documents, passages
from holdfast.storage.corpus.collection_writer import CollectionWriter, stored_documents
from holdfast.storage.corpus.corpus_records import (
    PassageHit,
    StoredDocument,
    VectorCount,
)
from holdfast.storage.corpus.passage_vector_rows import (
    count_missing_vectors,
    has_vector_table,
    missing_pgvector_error,
    vector_counts,
    vector_dimension,
    vector_literal,
)
from holdfast.storage.corpus.search_statements import (
    OF_COLLECTION,
    hybrid_statement,
    keyword_statement,
    semantic_statement,
)

MAX_HITS = 50
ALL_DOCUMENTS: MetadataFilter = MappingProxyType({})
_MAX_QUERY = 2000
_MAX_NAMED = 5

_KEYS = text("""
select distinct key from documents, jsonb_object_keys(metadata) as key
where collection = :collection order by key limit 100
""")
# The parts of a word with a hyphen are looked up, not the whole: "lamp oil" answers "lamp-oil".
_ABSENT_WORDS = text(f"""
select token from (select {OF_COLLECTION} as language) as its,
    ts_debug(cast('pg_catalog.' || language as regconfig), :query) with ordinality as asked
    (alias, description, token, dictionaries, dictionary, lexemes, place)
where lexemes <> '{{}}' and alias not in ('asciihword', 'hword', 'numhword')
    and not exists (select from collection_words where collection = :collection
                    and word = any(tsvector_to_array(passage_words(language, token)))
                    and passages > 0)
order by place
""")  # noqa: S608 - the text is constant
_LOCK = text("select pg_advisory_xact_lock(hashtextextended('holdfast corpus ' || :name, 0))")
# PostgreSQL keeps new words in a list that every search reads: 29 ms a search after an ingest of
# 10,000 passages, 5 ms once the words are in the index. Only the index's owner may flush the list.
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
class CorpusStore:
    """All collections; a collection exists while it has a document."""

    database: Database

    async def search(
        self, collection: str, query: str, limit: int = 6, *, where: MetadataFilter = ALL_DOCUMENTS
    ) -> tuple[PassageHit, ...]:
        """Return the best passages by words, best first; ties in the order of storing.

        Any query text is valid.

        Raises:
            BadInput: `where` names a key that no document of the collection has.
        """
        return await self._ranked(keyword_statement(where), collection, limit, where, _query(query))

    async def nearest(
        self,
        collection: str,
        vector: QueryVector,
        limit: int = 6,
        *,
        where: MetadataFilter = ALL_DOCUMENTS,
    ) -> tuple[PassageHit, ...]:
        """Return the passages nearest in meaning, by the cosine of their vectors of one model.

        Raises:
            BadConfiguration: pgvector is missing.
            BadInput: as `search`.
        """
        return await self._ranked(
            semantic_statement(where), collection, limit, where, _vector(vector)
        )

    async def fused(
        self,
        collection: str,
        query: str,
        vector: QueryVector,
        limit: int = 6,
        *,
        where: MetadataFilter = ALL_DOCUMENTS,
    ) -> tuple[PassageHit, ...]:
        """Return the best passages by words and meaning (reciprocal rank fusion).

        Raises:
            BadConfiguration: pgvector is missing.
            BadInput: as `search`.
        """
        values = _query(query) | _vector(vector)
        return await self._ranked(hybrid_statement(where), collection, limit, where, values)

    async def absent_words(self, collection: str, query: str) -> tuple[str, ...]:
        """Return the words of the query that no passage of the collection has in any form.

        Each is written as in the query, once, in its order. Words that no search looks for, such
        as "the", are not among them.
        """
        values = {"collection": storable_text(collection), **_query(query)}
        async with self.database.reading() as connection:
            words = (await connection.execute(_ABSENT_WORDS, values)).scalars().all()
        first: dict[str, str] = {}
        for word in words:
            first.setdefault(word.lower(), word)
        return tuple(first.values())

    async def dimension_of(self, collection: str, model: str) -> int:
        """Return the dimension of the collection's vectors of the model, or 0 without any."""
        async with self.database.reading() as connection:
            return await vector_dimension(connection, collection, model)

    async def vectors_missing(self, collection: str, model: str) -> int:
        """Return how many passages have no vector of the model, in a database with pgvector."""
        async with self.database.reading() as connection:
            return await count_missing_vectors(connection, collection, model)

    async def vectors(self, collection: str) -> tuple[VectorCount, ...]:
        """Return the number of passages with vectors, by model."""
        async with self.database.reading() as connection:
            return await vector_counts(connection, collection)

    async def collections(self) -> tuple[str, ...]:
        """Return the names of all collections, sorted."""
        query = select(documents.c.collection).distinct().order_by(documents.c.collection)
        async with self.database.reading() as connection:
            return tuple((await connection.execute(query)).scalars().all())

    async def read(
        self, collection: str, address: str, start: int = 0, end: int | None = None
    ) -> tuple[SourcePassage, ...]:
        """Return the document's passages that overlap `start` to `end`, in order.

        Raises:
            NotFound: the collection has no such document; the message names similar addresses.
        """
        query = (
            select(*_OF_PASSAGES)
            .join(passages, passages.c.document_id == documents.c.id)
            .where(documents.c.collection == storable_text(collection))
            .where(documents.c.address == storable_text(address))
            .order_by(passages.c.position)
        )
        async with self.database.reading() as connection:
            rows = (await connection.execute(query)).mappings().all()
        if not rows:
            known = await self.documents(collection)
            raise NotFound(_unknown_document_message(address, known))
        found = (_passage(row) for row in rows)
        return tuple(
            passage
            for passage in found
            if passage.end > start and (end is None or passage.start < end)
        )

    async def documents(self, collection: str) -> tuple[StoredDocument, ...]:
        """Return the collection's documents by address; empty for an unknown collection."""
        async with self.database.reading() as connection:
            return await stored_documents(connection, collection)

    @asynccontextmanager
    async def writing(
        self, collection: str, language: SearchLanguage = SearchLanguage.ENGLISH
    ) -> AsyncIterator[CollectionWriter]:
        """Open the collection's only writer; a second writer waits until this one is closed.

        `language` is that of a collection without passages; any other keeps its own.

        Raises:
            StorageAway: PostgreSQL does not answer.
        """
        # The lock belongs to a transaction of its own, which the writer's commits do not end. A
        # lock of a session would be shared by strangers behind PgBouncer.
        async with self.database.writing() as holder:
            await holder.execute(_LOCK, {"name": collection})
            async with self.database.reading() as connection:
                yield CollectionWriter(connection, collection, language)
                await connection.execute(_INDEX_NOW)
                await connection.commit()

    async def _ranked(
        self,
        prepared: tuple[TextClause, Mapping[str, Any]],
        collection: str,
        limit: int,
        where: MetadataFilter,
        values: Mapping[str, Any],
    ) -> tuple[PassageHit, ...]:
        statement, of_filter = prepared
        name = storable_text(collection)
        bounds = {"collection": name, "limit": max(0, min(limit, MAX_HITS))}
        async with self.database.reading() as connection:
            if "vector" in values and not await has_vector_table(connection):
                raise missing_pgvector_error()
            rows = (
                (await connection.execute(statement, bounds | {**values, **of_filter}))
                .mappings()
                .all()
            )
            if where and not rows:
                known = (await connection.execute(_KEYS, {"collection": name})).scalars().all()
                _check_keys(where, known)
        return tuple(PassageHit(_passage(row), row["score"]) for row in rows)


def _query(query: str) -> dict[str, Any]:
    return {"query": storable_text(query[:_MAX_QUERY])}


def _vector(vector: QueryVector) -> dict[str, Any]:
    return {
        "vector": vector_literal(vector.values),
        "model": vector.model,
        "dimension": len(vector.values),
    }


def _check_keys(where: MetadataFilter, known: Sequence[str]) -> None:
    for key in where:
        if known and key.lower() not in known:
            raise BadInput(
                f"no document here says {key!r} of itself; filter by {', '.join(known)}",
                field="where",
            )


def _passage(row: RowMapping) -> SourcePassage:
    return SourcePassage(
        address=row["address"],
        title=row["title"],
        heading=row["heading"],
        start=row["start_char"],
        end=row["end_char"],
        text=row["text"],
    )


def _unknown_document_message(address: str, known: Sequence[StoredDocument]) -> str:
    addresses = [document.address for document in known]
    near = nearest_names(address[:_MAX_QUERY], addresses, _MAX_NAMED, 0.5) or addresses
    if not near:
        return f"there is no document {address!r}: the collection is empty"
    return f"there is no document {address!r}; there is {', '.join(map(repr, near[:_MAX_NAMED]))}"
