"""Store and count the vectors of passages, or report that pgvector is not installed."""

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncConnection

from holdfast.models.errors import BadConfiguration
from holdfast.models.text.storable_text import storable_text
from holdfast.storage.core.owner_role import GRANT_TABLES
from holdfast.storage.core.tables.corpus_tables import passage_vectors
from holdfast.storage.corpus.corpus_records import VectorCount

_TABLE_EXISTS = text("select to_regclass('passage_vectors') is not null")
_EXTENSION = text("create extension if not exists vector")
# Stored in the row itself: 10,000 vectors of 1,536 numbers are compared in 10 ms, not in 36.
_INLINE = text("alter table passage_vectors alter column embedding set storage main")
# As migration 0025 has it, for a table that is younger.
_VISIBILITY = (
    text("""
create policy own_rows on passage_vectors using (
    (select not starts_with(current_user::text, 'holdfast_owner_'))
    or starts_with(collection, (select nullif(current_setting('holdfast.owner', true), '')) || '/'))
"""),
    text("""
create policy readable_rows on passage_vectors for select using (
    starts_with(collection, 'shared/'))
"""),
    text("alter table passage_vectors enable row level security"),
    text(GRANT_TABLES),
)
_DIMENSION = text("""
select dimension from passage_vectors where collection = :collection and model = :model limit 1
""")
# `collection_words` counts the passages, and the index of the model's vectors suffices.
_MISSING = text("""
select coalesce((select passages from collection_words
                 where collection = :collection and word = ''), 0)
    - (select count(*) from passage_vectors where collection = :collection and model = :model)
""")
_INCOMPLETE = text("""
select collection from collection_words as words
where word = '' and passages > (select count(*) from passage_vectors as vectors
                                where vectors.collection = words.collection and model = :model)
order by collection
""")
_COUNTS = text("""
select model, dimension, count(*) from passage_vectors where collection = :collection
group by model, dimension order by model, dimension
""")
_WITHOUT = text("""
select passages.id, context, passages.text from passages
left join passage_vectors on passage_id = passages.id and model = :model
    and (cast(:dimension as integer) is null or dimension = :dimension)
where passages.collection = :collection and passage_id is null and passages.id > :after
order by passages.id limit :limit
""")
_PENDING = text("""
select count(*) from passages
left join passage_vectors on passage_id = passages.id and model = :model
    and (cast(:dimension as integer) is null or dimension = :dimension)
where passages.collection = :collection and passage_id is null
""")
_STORE = text("""
insert into passage_vectors (passage_id, collection, model, dimension, embedding)
select passages.id, :collection, :model, :dimension, cast(vector as vector)
from unnest(cast(:ids as bigint[]), cast(:vectors as text[])) as new (id, vector)
join passages on passages.id = new.id -- one may be gone since it was read
for key share of passages -- or is being removed, which this waits for
on conflict (passage_id) do update
set model = excluded.model, dimension = excluded.dimension, embedding = excluded.embedding
""")
_MISSING_PGVECTOR = (
    "semantic search needs pgvector, which this PostgreSQL does not have, or this role may not "
    "create: install pgvector on the server, have a superuser run `create extension vector` in "
    "this database, then add the documents again; keyword search works without it"
)


class PassageToEmbed(NamedTuple):
    """A passage without a vector of a model."""

    passage_id: int
    text: str
    """The title, heading and text of the passage."""


async def has_vector_table(connection: AsyncConnection) -> bool:
    """Return True if the database has the table of vectors."""
    return bool(await connection.scalar(_TABLE_EXISTS))


async def create_vector_table(connection: AsyncConnection) -> None:
    """Create the table of vectors if pgvector was installed after the migration.

    Raises:
        BadConfiguration: pgvector is missing; the message says how to add it.
    """
    if await has_vector_table(connection):
        return
    try:
        async with connection.begin_nested():
            await connection.execute(_EXTENSION)
            await connection.run_sync(passage_vectors.create)
            await connection.execute(_INLINE)
            for statement in _VISIBILITY:
                await connection.execute(statement)
    except DBAPIError as error:
        if error.connection_invalidated:
            raise
        raise BadConfiguration(_MISSING_PGVECTOR) from error


def missing_pgvector_error() -> BadConfiguration:
    """Return the error for a search by meaning without pgvector."""
    return BadConfiguration(_MISSING_PGVECTOR)


async def vector_dimension(connection: AsyncConnection, collection: str, model: str) -> int:
    """Return the dimension of the collection's vectors of the model, or 0 without any."""
    if not await has_vector_table(connection):
        return 0
    values = {"collection": storable_text(collection), "model": model}
    return int(await connection.scalar(_DIMENSION, values) or 0)


async def count_missing_vectors(connection: AsyncConnection, collection: str, model: str) -> int:
    """Return how many passages of the collection have no vector of the model."""
    values = {"collection": storable_text(collection), "model": model}
    return max(0, int(await connection.scalar(_MISSING, values) or 0))


async def incomplete_collections(connection: AsyncConnection, model: str) -> tuple[str, ...]:
    """Return the collections that have passages without a vector of the model, by name."""
    return tuple((await connection.scalars(_INCOMPLETE, {"model": model})).all())


async def vector_counts(connection: AsyncConnection, collection: str) -> tuple[VectorCount, ...]:
    if not await has_vector_table(connection):
        return ()
    rows = (await connection.execute(_COUNTS, {"collection": storable_text(collection)})).all()
    return tuple(VectorCount(*row) for row in rows)


async def count_passages_without_vector(
    connection: AsyncConnection, collection: str, model: str, dimension: int | None
) -> int:
    """Return the number of passages without a vector of the model (and dimension, if given)."""
    values = {"collection": collection, "model": model, "dimension": dimension}
    return int(await connection.scalar(_PENDING, values) or 0)


async def passages_without_vector(
    connection: AsyncConnection,
    collection: str,
    model: str,
    dimension: int | None,
    *,
    after: int,
    limit: int,
) -> tuple[PassageToEmbed, ...]:
    """Return the next passages without a vector, in the order of storing."""
    asked = {"collection": collection, "model": model, "dimension": dimension}
    values = {**asked, "after": after, "limit": limit}
    rows = (await connection.execute(_WITHOUT, values)).all()
    return tuple(PassageToEmbed(row.id, f"{row.context}\n{row.text}".strip()) for row in rows)


async def store_vectors(
    connection: AsyncConnection,
    collection: str,
    model: str,
    ids: Sequence[int],
    vectors: Sequence[Sequence[float]],
) -> None:
    """Store one vector per passage, all of one dimension, and replace another model's."""
    values = {
        "collection": collection,
        "model": model,
        "dimension": len(vectors[0]),
        "ids": list(ids),
        "vectors": [vector_literal(vector) for vector in vectors],
    }
    await connection.execute(_STORE, values)


def vector_literal(vector: Sequence[float]) -> str:
    """Return a vector in pgvector's notation."""
    return f"[{','.join(map(repr, vector))}]"
