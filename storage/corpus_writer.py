"""The one writer of a collection: documents in batches, and how many passages hold each word."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import ARRAY, Text, TextClause, all_, any_, delete, literal, select, text
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlalchemy.sql.elements import ColumnElement

from models.tables import documents
from storage.corpus_shapes import NewDocument, StoredDocument, storable
from storage.corpus_vectors import (
    ToEmbed,
    dimension_of,
    make_room,
    pending,
    store_vectors,
    without_vector,
)

_NEW_DOCUMENTS = text("""
insert into documents (collection, address, title, text, sha256, size_bytes, metadata, origin)
select :collection, address, title, body, sha256, size_bytes, cast(about as jsonb), origin
from unnest(cast(:addresses as text[]), cast(:titles as text[]), cast(:texts as text[]),
            cast(:hashes as text[]), cast(:sizes as bigint[]), cast(:about as text[]),
            cast(:origins as text[]))
     as new (address, title, body, sha256, size_bytes, about, origin)
returning id, address
""")
_COPY = """
copy passages (document_id, collection, position, heading, start_char, end_char, text, context)
from stdin
"""
_COUNT_NEW = text("""
insert into collection_words (collection, word, passages)
select :collection, word, count(*) from passages, unnest(tsvector_to_array(tsv) || array['']) word
where document_id = any(cast(:ids as bigint[])) group by word
on conflict (collection, word) do update
set passages = collection_words.passages + excluded.passages
""")
_COUNT_GONE = text("""
update collection_words set passages = collection_words.passages - gone.passages
from (select word, count(*) as passages from passages,
      unnest(tsvector_to_array(tsv) || array['']) as word
      where document_id = any(cast(:ids as bigint[])) group by word) as gone
where collection = :collection and collection_words.word = gone.word
""")
_FORGET = text("delete from collection_words where collection = :collection and passages <= 0")
_DESCRIBE = text("""
update documents set metadata = metadata || cast(:more as jsonb)
where collection = :collection and address = any(cast(:addresses as text[]))
    and not metadata @> cast(:more as jsonb)
""")


@dataclass(frozen=True)
class CollectionWriter:
    """Writes to one collection; each call is a transaction, so what was stored stays."""

    connection: AsyncConnection
    collection: str

    async def documents(self) -> tuple[StoredDocument, ...]:
        async with self.connection.begin():
            return await stored_documents(self.connection, self.collection)

    async def put(self, *new: NewDocument) -> None:
        """Store the documents with their passages, in place of those at their addresses."""
        if not new:
            return
        latest = {document.address: document for document in new}
        async with self.connection.begin():
            await self._drop(documents.c.address == any_(_texts(latest)), forget=False)
            rows = await self.connection.execute(_NEW_DOCUMENTS, self._columns(latest))
            ids = {row.address: row.id for row in rows}
            await self._copy((ids[each.address], each) for each in latest.values())
            await self._count(_COUNT_NEW, list(ids.values()))

    async def describe(self, addresses: Sequence[str], more: Mapping[str, str]) -> int:
        """Add to the documents' metadata; gives how many it was new to."""
        values = {
            "collection": self.collection,
            "addresses": list(addresses),
            "more": json.dumps(dict(more)),
        }
        async with self.connection.begin():
            return (await self.connection.execute(_DESCRIBE, values)).rowcount

    async def keep_only(self, addresses: Iterable[str], *, origin: str | None = None) -> int:
        """Remove all other documents, or those read from one folder; gives how many there were."""
        chosen = documents.c.address != all_(_texts(addresses))
        if origin is not None:
            chosen &= documents.c.origin == origin
        async with self.connection.begin():
            return await self._drop(chosen)

    async def remove(self, address: str) -> int:
        """Remove one document; gives 0 where there is none."""
        async with self.connection.begin():
            return await self._drop(documents.c.address == address)

    async def make_room_for_vectors(self) -> None:
        """See `storage.corpus_vectors.make_room`."""
        async with self.connection.begin():
            await make_room(self.connection)

    async def pending(self, model: str, dimension: int | None = None) -> int:
        """How many passages have no vector of the model (and of that dimension, if named)."""
        async with self.connection.begin():
            return await pending(self.connection, self.collection, model, dimension)

    async def without_vector(
        self, model: str, dimension: int | None = None, *, after: int, limit: int
    ) -> tuple[ToEmbed, ...]:
        """The next passages that `pending` counts."""
        async with self.connection.begin():
            return await without_vector(
                self.connection, self.collection, model, dimension, after=after, limit=limit
            )

    async def dimension_of(self, model: str) -> int:
        """The dimension of the vectors of that model; 0 where there are none."""
        async with self.connection.begin():
            return await dimension_of(self.connection, self.collection, model)

    async def put_vectors(
        self, model: str, ids: Sequence[int], vectors: Sequence[Sequence[float]]
    ) -> None:
        """Store the passages' vectors, in place of those of another model."""
        async with self.connection.begin():
            await store_vectors(self.connection, self.collection, model, ids, vectors)

    async def _drop(self, chosen: ColumnElement[bool], *, forget: bool = True) -> int:
        here = documents.c.collection == self.collection
        ids = list(
            (await self.connection.scalars(select(documents.c.id).where(here, chosen))).all()
        )
        if ids:
            await self._count(_COUNT_GONE, ids)
            # By address, as a list of ids would be one of parameters, which end at 65,535.
            await self.connection.execute(delete(documents).where(here, chosen))
            if forget:
                await self.connection.execute(_FORGET, {"collection": self.collection})
        return len(ids)

    async def _count(self, statement: TextClause, ids: list[int]) -> None:
        values = {"collection": self.collection, "ids": ids}
        await self.connection.execute(statement, values)

    def _columns(self, new: Mapping[str, NewDocument]) -> dict[str, object]:
        every = list(new.values())
        return {
            "collection": self.collection,
            "addresses": [each.address for each in every],
            "titles": [storable(each.title) for each in every],
            "texts": [storable(each.text) for each in every],
            "hashes": [each.sha256 for each in every],
            "sizes": [each.size_bytes for each in every],
            "about": [json.dumps(dict(each.metadata)) for each in every],
            "origins": [storable(each.origin) for each in every],
        }

    async def _copy(self, stored: Iterable[tuple[int, NewDocument]]) -> None:
        raw = (await self.connection.get_raw_connection()).driver_connection
        assert raw is not None, "the connection is open"
        async with raw.cursor() as cursor, cursor.copy(_COPY) as rows:
            for document_id, document in stored:
                for row in _passage_rows(document):
                    await rows.write_row((document_id, self.collection, *row))


async def stored_documents(
    connection: AsyncConnection, collection: str
) -> tuple[StoredDocument, ...]:
    """The documents by address."""
    columns = [documents.c[name] for name in StoredDocument._fields]
    query = select(*columns).where(documents.c.collection == storable(collection))
    rows = (await connection.execute(query.order_by(documents.c.address))).all()
    return tuple(StoredDocument(*row) for row in rows)


def _passage_rows(document: NewDocument) -> Iterable[tuple[int, str, int, int, str, str]]:
    text = storable(document.text)
    for position, (heading, start, end) in enumerate(document.passages):
        context = storable(f"{document.title} {heading}")
        yield position, storable(heading), start, end, text[start:end], context


def _texts(values: Iterable[str]) -> ColumnElement[list[str]]:
    """One array: a list of parameters ends at 65,535."""
    return literal(list(values), ARRAY(Text))
