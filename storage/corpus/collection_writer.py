"""Write documents in batches, and count how many passages contain each word."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from pydantic import JsonValue
from sqlalchemy import ARRAY, Text, TextClause, all_, any_, delete, literal, select, text, update
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlalchemy.sql.elements import ColumnElement

from holdfast.models.corpus.search_language import SearchLanguage
from holdfast.models.text.storable_text import storable_json, storable_text
from holdfast.storage.core.tables.corpus_tables import documents
from holdfast.storage.corpus.corpus_records import NewDocument, StoredDocument
from holdfast.storage.corpus.passage_vector_rows import (
    PassageToEmbed,
    count_passages_without_vector,
    create_vector_table,
    passages_without_vector,
    store_vectors,
    vector_dimension,
)
from holdfast.storage.corpus.search_statements import STORED_LANGUAGE

_NEW_DOCUMENTS = text("""
insert into documents (collection, address, title, text, sha256, size_bytes, metadata, origin)
select :collection, address, title, body, sha256, size_bytes, cast(about as jsonb), origin
from unnest(cast(:addresses as text[]), cast(:titles as text[]), cast(:texts as text[]),
            cast(:hashes as text[]), cast(:sizes as bigint[]), cast(:about as text[]),
            cast(:origins as text[]))
     as new (address, title, body, sha256, size_bytes, about, origin)
returning id, address
""")
_COLUMNS = (
    "document_id, collection, language, position, heading, start_char, end_char, text, context"
)
# PostgreSQL refuses to copy into a table for a user whom row-level security concerns: a user who
# does not own the tables. Such a user's passages go through a table of the transaction.
_IS_RESTRICTED = text("select row_security_active('passages')")
_MAKE_STAGE = text(
    "create temp table if not exists staged_passages on commit drop as "  # noqa: S608 - constants
    f"select {_COLUMNS} from passages with no data"
)
_UNSTAGE = text(
    f"with staged as (delete from staged_passages returning {_COLUMNS}) "  # noqa: S608 - as above
    f"insert into passages ({_COLUMNS}) select {_COLUMNS} from staged"
)
_COUNT_NEW = text("""
insert into collection_words (collection, word, passages)
select :collection, word, count(*) from passages, unnest(tsvector_to_array(tsv) || array['']) word
where document_id = any(cast(:ids as bigint[])) group by word
on conflict (collection, word) do update
set passages = collection_words.passages + excluded.passages
""")
_COUNT_REMOVED = text("""
update collection_words set passages = collection_words.passages - gone.passages
from (select word, count(*) as passages from passages,
      unnest(tsvector_to_array(tsv) || array['']) as word
      where document_id = any(cast(:ids as bigint[])) group by word) as gone
where collection = :collection and collection_words.word = gone.word
""")
_LANGUAGE = text(f"select {STORED_LANGUAGE}")
_CHANGE_LANGUAGE = text("""
update passages set language = :language
where collection = :collection and language <> :language
""")
_DELETE_WORDS = text("delete from collection_words where collection = :collection")
_COUNT_ALL = text("""
insert into collection_words (collection, word, passages)
select :collection, word, count(*) from passages, unnest(tsvector_to_array(tsv) || array['']) word
where collection = :collection group by word
""")
_DELETE_UNUSED_WORDS = text(
    "delete from collection_words where collection = :collection and passages <= 0"
)
_DESCRIBE = text("""
update documents set metadata = metadata || cast(:more as jsonb)
where collection = :collection and address = any(cast(:addresses as text[]))
    and not metadata @> cast(:more as jsonb)
""")


@dataclass(frozen=True)
class CollectionWriter:
    """Write to one collection; each call is a transaction of its own."""

    connection: AsyncConnection
    collection: str
    language: SearchLanguage = SearchLanguage.ENGLISH
    """Of new passages, if the collection has none yet; else they get the collection's."""

    async def documents(self) -> tuple[StoredDocument, ...]:
        async with self.connection.begin():
            return await stored_documents(self.connection, self.collection)

    async def put(self, *new: NewDocument) -> None:
        """Store the documents and their passages, and replace documents at the same addresses."""
        if not new:
            return
        latest = {document.address: document for document in new}
        async with self.connection.begin():
            # Before the drop, which may leave no passage that has it.
            language = await self._language()
            await self._drop(documents.c.address == any_(_texts(latest)), forget=False)
            rows = await self.connection.execute(_NEW_DOCUMENTS, self._columns(latest))
            ids = {row.address: row.id for row in rows}
            await self._copy(((ids[each.address], each) for each in latest.values()), language)
            await self._count(_COUNT_NEW, list(ids.values()))

    async def change_language(self, language: SearchLanguage) -> bool:
        """Read the words of all passages in this language; return True if it is another.

        Documents and vectors stay. Searches find what they found before until all is done.
        """
        values = {"collection": self.collection, "language": language.value}
        async with self.connection.begin():
            changed = (await self.connection.execute(_CHANGE_LANGUAGE, values)).rowcount
            if changed:
                await self.connection.execute(_DELETE_WORDS, values)
                await self.connection.execute(_COUNT_ALL, values)
        return changed > 0

    async def describe(self, addresses: Sequence[str], more: Mapping[str, str]) -> int:
        """Add metadata to the documents; return the number of changed documents."""
        values = {
            "collection": self.collection,
            "addresses": list(addresses),
            "more": _metadata_json(more),
        }
        async with self.connection.begin():
            return (await self.connection.execute(_DESCRIBE, values)).rowcount

    async def note_origin(self, addresses: Sequence[str], origin: str) -> None:
        """Record where the documents come from; it may be known better than when they were read."""
        of_collection = documents.c.collection == self.collection
        chosen = documents.c.address == any_(_texts(addresses))
        other = update(documents).where(of_collection, chosen, documents.c.origin != origin)
        async with self.connection.begin():
            await self.connection.execute(other.values(origin=origin))

    async def keep_only(
        self, addresses: Iterable[str], *, origins: Sequence[str] | None = None
    ) -> int:
        """Remove all other documents (of these origins, if given); return their number."""
        chosen = documents.c.address != all_(_texts(addresses))
        if origins is not None:
            chosen &= documents.c.origin.in_(origins)
        async with self.connection.begin():
            return await self._drop(chosen)

    async def remove(self, address: str) -> int:
        """Remove one document; return 0 if there is none, else 1."""
        async with self.connection.begin():
            return await self._drop(documents.c.address == address)

    async def create_vector_table(self) -> None:
        """See `storage.corpus.passage_vector_rows.make_room`."""
        async with self.connection.begin():
            await create_vector_table(self.connection)

    async def pending(self, model: str, dimension: int | None = None) -> int:
        """Return the number of passages without a vector of the model (and dimension, if given)."""
        async with self.connection.begin():
            return await count_passages_without_vector(
                self.connection, self.collection, model, dimension
            )

    async def passages_without_vector(
        self, model: str, dimension: int | None = None, *, after: int, limit: int
    ) -> tuple[PassageToEmbed, ...]:
        """Return the next passages without a vector."""
        async with self.connection.begin():
            return await passages_without_vector(
                self.connection, self.collection, model, dimension, after=after, limit=limit
            )

    async def dimension_of(self, model: str) -> int:
        """Return the dimension of the model's vectors, or 0 without any."""
        async with self.connection.begin():
            return await vector_dimension(self.connection, self.collection, model)

    async def put_vectors(
        self, model: str, ids: Sequence[int], vectors: Sequence[Sequence[float]]
    ) -> None:
        """Store the passages' vectors and replace those of another model."""
        async with self.connection.begin():
            await store_vectors(self.connection, self.collection, model, ids, vectors)

    async def _drop(self, chosen: ColumnElement[bool], *, forget: bool = True) -> int:
        here = documents.c.collection == self.collection
        ids = list(
            (await self.connection.scalars(select(documents.c.id).where(here, chosen))).all()
        )
        if ids:
            await self._count(_COUNT_REMOVED, ids)
            # Selected by address: a list of ids would exceed the limit of 65,535 parameters.
            await self.connection.execute(delete(documents).where(here, chosen))
            if forget:
                await self.connection.execute(_DELETE_UNUSED_WORDS, {"collection": self.collection})
        return len(ids)

    async def _count(self, statement: TextClause, ids: list[int]) -> None:
        values = {"collection": self.collection, "ids": ids}
        await self.connection.execute(statement, values)

    def _columns(self, new: Mapping[str, NewDocument]) -> dict[str, object]:
        every = list(new.values())
        return {
            "collection": self.collection,
            "addresses": [each.address for each in every],
            "titles": [storable_text(each.title) for each in every],
            "texts": [storable_text(each.text) for each in every],
            "hashes": [each.sha256 for each in every],
            "sizes": [each.size_bytes for each in every],
            "about": [_metadata_json(each.metadata) for each in every],
            "origins": [storable_text(each.origin) for each in every],
        }

    async def _language(self) -> str:
        """Return the language of the collection's passages, or that of the first ones."""
        stored = await self.connection.scalar(_LANGUAGE, {"collection": self.collection})
        return self.language if stored is None else str(stored)

    async def _copy(self, stored: Iterable[tuple[int, NewDocument]], language: str) -> None:
        raw = (await self.connection.get_raw_connection()).driver_connection
        assert raw is not None, "the connection is open"
        is_staged = bool(await self.connection.scalar(_IS_RESTRICTED))
        target = "staged_passages" if is_staged else "passages"
        if is_staged:
            await self.connection.execute(_MAKE_STAGE)
        copy = f"copy {target} ({_COLUMNS}) from stdin"
        async with raw.cursor() as cursor, cursor.copy(copy) as rows:
            for document_id, document in stored:
                for row in _passage_rows(document):
                    await rows.write_row((document_id, self.collection, language, *row))
        if is_staged:
            await self.connection.execute(_UNSTAGE)


async def stored_documents(
    connection: AsyncConnection, collection: str
) -> tuple[StoredDocument, ...]:
    """Return the documents by address."""
    columns = [documents.c[name] for name in StoredDocument._fields]
    query = select(*columns).where(documents.c.collection == storable_text(collection))
    rows = (await connection.execute(query.order_by(documents.c.address))).all()
    return tuple(StoredDocument(*row) for row in rows)


def _passage_rows(document: NewDocument) -> Iterable[tuple[int, str, int, int, str, str]]:
    text = storable_text(document.text)
    for position, (heading, start, end) in enumerate(document.passages):
        context = storable_text(f"{document.title} {heading}")
        yield position, storable_text(heading), start, end, text[start:end], context


def _texts(values: Iterable[str]) -> ColumnElement[list[str]]:
    """Return one array parameter: a statement takes at most 65,535 parameters."""
    return literal(list(values), ARRAY(Text))


def _metadata_json(metadata: Mapping[str, str | list[str]]) -> str:
    return storable_json(cast("JsonValue", dict(metadata)))  # mypy: list[str] is no list[JsonValue]
