"""The vectors of passages, where PostgreSQL has pgvector; what is missing where it has not."""

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncConnection

from models.errors import BadConfiguration
from models.tables import passage_vectors
from storage.corpus_shapes import VectorCount, storable

_IS_THERE = text("select to_regclass('passage_vectors') is not null")
_EXTENSION = text("create extension if not exists vector")
# In the row, not beside it: 10,000 vectors of 1,536 numbers are compared in 10 ms instead of 36.
_INLINE = text("alter table passage_vectors alter column embedding set storage main")
_DIMENSION = text("""
select dimension from passage_vectors where collection = :collection and model = :model limit 1
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
select id, :collection, :model, :dimension, cast(vector as vector)
from unnest(cast(:ids as bigint[]), cast(:vectors as text[])) as new (id, vector)
on conflict (passage_id) do update
set model = excluded.model, dimension = excluded.dimension, embedding = excluded.embedding
""")
_MISSING = (
    "semantic search needs pgvector, which this PostgreSQL does not have, or this role may not "
    "create: install pgvector on the server, have a superuser run `create extension vector` in "
    "this database, then run `holdfast corpus add` again; keyword search works without it"
)


class ToEmbed(NamedTuple):
    """A passage that has no vector of a model."""

    passage_id: int
    text: str
    """Its title, heading and words."""


async def has_vectors(connection: AsyncConnection) -> bool:
    """Whether vectors can be stored here."""
    return bool(await connection.scalar(_IS_THERE))


async def make_room(connection: AsyncConnection) -> None:
    """Create the table where the migration could not, because pgvector came later.

    Raises:
        BadConfiguration: pgvector is not there; the message says how to add it.
    """
    if await has_vectors(connection):
        return
    try:
        async with connection.begin_nested():
            await connection.execute(_EXTENSION)
            await connection.run_sync(passage_vectors.create)
            await connection.execute(_INLINE)
    except DBAPIError as error:
        if error.connection_invalidated:
            raise
        raise BadConfiguration(_MISSING) from error


def missing_pgvector() -> BadConfiguration:
    """Why nothing can be found by meaning."""
    return BadConfiguration(_MISSING)


async def dimension_of(connection: AsyncConnection, collection: str, model: str) -> int:
    """The dimension of the collection's vectors of the model; 0 where it has none."""
    if not await has_vectors(connection):
        return 0
    values = {"collection": storable(collection), "model": model}
    return int(await connection.scalar(_DIMENSION, values) or 0)


async def vector_counts(connection: AsyncConnection, collection: str) -> tuple[VectorCount, ...]:
    if not await has_vectors(connection):
        return ()
    rows = (await connection.execute(_COUNTS, {"collection": storable(collection)})).all()
    return tuple(VectorCount(*row) for row in rows)


async def pending(
    connection: AsyncConnection, collection: str, model: str, dimension: int | None
) -> int:
    """How many passages have no vector of the model (and of that dimension, if it is named)."""
    values = {"collection": collection, "model": model, "dimension": dimension}
    return int(await connection.scalar(_PENDING, values) or 0)


async def without_vector(
    connection: AsyncConnection,
    collection: str,
    model: str,
    dimension: int | None,
    *,
    after: int,
    limit: int,
) -> tuple[ToEmbed, ...]:
    """The next passages that have none, in the order of storing."""
    asked = {"collection": collection, "model": model, "dimension": dimension}
    values = {**asked, "after": after, "limit": limit}
    rows = (await connection.execute(_WITHOUT, values)).all()
    return tuple(ToEmbed(row.id, f"{row.context}\n{row.text}".strip()) for row in rows)


async def store_vectors(
    connection: AsyncConnection,
    collection: str,
    model: str,
    ids: Sequence[int],
    vectors: Sequence[Sequence[float]],
) -> None:
    """Store one for each passage, in place of that of another model; all of one dimension."""
    values = {
        "collection": collection,
        "model": model,
        "dimension": len(vectors[0]),
        "ids": list(ids),
        "vectors": [as_text(vector) for vector in vectors],
    }
    await connection.execute(_STORE, values)


def as_text(vector: Sequence[float]) -> str:
    """A vector as pgvector reads it."""
    return f"[{','.join(map(repr, vector))}]"
