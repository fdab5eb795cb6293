"""The local corpus in PostgreSQL: what is in a collection, its search, and its one writer."""

import asyncio
import difflib
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import NamedTuple

from sqlalchemy import ARRAY, RowMapping, Text, all_, delete, insert, literal, select, text
from sqlalchemy.ext.asyncio import AsyncConnection

from models.errors import NotFound
from models.tables import documents, passages
from models.tools import ReadPassage
from storage.database import Database

MAX_HITS = 50
_MAX_QUERY = 2000
_NAMED = 5

# Summed rarity (idf) of the words found, plus how close together they stand (below 1, so it only
# orders passages with the same words). Asking for all words at once finds nothing for a question,
# and ts_rank_cd alone knows no rarity. 30 words, because each costs a scan of the index.
_SEARCH = text("""
with words as materialized (
    select '''' || replace(replace(lexeme, '\\', '\\\\'), '''', '''''') || '''' as word
    from unnest(to_tsvector('english', :query)) order by positions[1] limit 30),
found as materialized (
    select word, passages.id from words
    join passages on tsv @@ cast(word as tsquery) and collection = :collection),
rarity as (
    select word, ln(1 + (select count(*) from passages where collection = :collection)
                      / cast(count(*) as float8)) as idf
    from found group by word),
best as (
    select id, sum(idf) as idf from found join rarity using (word)
    group by id order by sum(idf) desc, id limit 50),
any_word as (select cast(string_agg(word, ' | ') as tsquery) as query from words)
select address, title, heading, start_char, end_char, passages.text,
       idf + ts_rank_cd(tsv, query, 32) as score
from best join passages using (id) join documents on documents.id = document_id, any_word
order by score desc, passages.id limit :limit
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


class Hit(NamedTuple):
    """A passage that a search found; scores compare within one search only."""

    passage: ReadPassage
    score: float


@dataclass(frozen=True)
class NewDocument:
    """A document to be stored; each passage is (heading, start, end) within `text`."""

    address: str
    title: str
    text: str
    sha256: str
    size_bytes: int
    passages: Sequence[tuple[str, int, int]]


class StoredDocument(NamedTuple):
    """A document of a collection, without its text."""

    address: str
    title: str
    sha256: str
    size_bytes: int


@dataclass(frozen=True)
class Corpus:
    """All collections; a collection is there when a document is in it."""

    database: Database

    async def search(self, collection: str, query: str, limit: int = 6) -> tuple[Hit, ...]:
        """The best passages, best first; ties in the order of storing. Any query will do."""
        values = {
            "collection": _storable(collection),
            "query": _storable(query[:_MAX_QUERY]),
            "limit": max(0, min(limit, MAX_HITS)),
        }
        async with self.database.reading() as connection:
            rows = (await connection.execute(_SEARCH, values)).mappings().all()
        return tuple(Hit(_passage(row), row["score"]) for row in rows)

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
            .where(documents.c.collection == _storable(collection))
            .where(documents.c.address == _storable(address))
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
            return await _documents(connection, collection)

    @asynccontextmanager
    async def writing(self, collection: str) -> AsyncIterator["CollectionWriter"]:
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


@dataclass(frozen=True)
class CollectionWriter:
    """Writes to one collection; each call is a transaction, so what was stored stays."""

    connection: AsyncConnection
    collection: str

    async def documents(self) -> tuple[StoredDocument, ...]:
        async with self.connection.begin():
            return await _documents(self.connection, self.collection)

    async def put(self, document: NewDocument) -> None:
        """Store the document with its passages, in place of the one at its address."""
        row = {
            "collection": self.collection,
            "address": document.address,
            "title": _storable(document.title),
            "text": _storable(document.text),
            "sha256": document.sha256,
            "size_bytes": document.size_bytes,
        }
        async with self.connection.begin():
            await self.connection.execute(
                delete(documents)
                .where(documents.c.collection == self.collection)
                .where(documents.c.address == document.address)
            )
            new = await self.connection.scalar(insert(documents).returning(documents.c.id), row)
            rows = _passage_rows(document, {"document_id": new, "collection": self.collection})
            if rows:
                await self.connection.execute(insert(passages), rows)

    async def keep_only(self, addresses: Iterable[str]) -> int:
        """Remove all other documents; gives how many there were."""
        # One array: a list of parameters ends at 65,535.
        kept = literal(list(addresses), ARRAY(Text))
        async with self.connection.begin():
            result = await self.connection.execute(
                delete(documents)
                .where(documents.c.collection == self.collection)
                .where(documents.c.address != all_(kept))
            )
            return result.rowcount


async def _documents(connection: AsyncConnection, collection: str) -> tuple[StoredDocument, ...]:
    columns = [documents.c[name] for name in StoredDocument._fields]
    query = select(*columns).where(documents.c.collection == _storable(collection))
    rows = (await connection.execute(query.order_by(documents.c.address))).all()
    return tuple(StoredDocument(*row) for row in rows)


def _passage_rows(document: NewDocument, common: dict[str, object]) -> list[dict[str, object]]:
    return [
        common
        | {
            "position": position,
            "heading": _storable(heading),
            "start_char": start,
            "end_char": end,
            "text": _storable(document.text[start:end]),
            "context": _storable(f"{document.title} {heading}"),
        }
        for position, (heading, start, end) in enumerate(document.passages)
    ]


def _passage(row: RowMapping) -> ReadPassage:
    return ReadPassage(
        address=row["address"],
        title=row["title"],
        heading=row["heading"],
        start=row["start_char"],
        end=row["end_char"],
        text=row["text"],
    )


def _storable(value: str) -> str:
    """Without what PostgreSQL refuses, and of the same length, so that offsets still hold."""
    return value.replace("\0", " ").encode("utf-8", "replace").decode("utf-8")


def _unknown(address: str, known: Sequence[StoredDocument]) -> str:
    addresses = [document.address for document in known]
    near = difflib.get_close_matches(address[:_MAX_QUERY], addresses, _NAMED, 0.5) or addresses
    if not near:
        return f"there is no document {address!r}: the collection is empty"
    return f"there is no document {address!r}; there is {', '.join(map(repr, near[:_NAMED]))}"
