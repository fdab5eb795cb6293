"""Claim a collection for embedding, and read and store its passages without holding its writer."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from sqlalchemy import text

from holdfast.models.text.storable_text import storable_text
from holdfast.storage.core.database import Database
from holdfast.storage.corpus.passage_vector_rows import (
    PassageToEmbed,
    create_vector_table,
    has_vector_table,
    incomplete_collections,
    passages_without_vector,
    store_vectors,
)

_CLAIM = text("select pg_try_advisory_xact_lock(hashtextextended('holdfast embed ' || :name, 0))")


async def collections_to_embed(database: Database, model: str) -> tuple[str, ...]:
    """Return the collections with passages that have no vector of the model.

    Raises:
        BadConfiguration: pgvector is missing.
    """
    async with database.reading() as connection:
        if await has_vector_table(connection):
            return await incomplete_collections(connection, model)
    async with database.writing() as connection:
        await create_vector_table(connection)
        return await incomplete_collections(connection, model)


@asynccontextmanager
async def embedding_claimed(database: Database, collection: str) -> AsyncIterator[bool]:
    """Yield True if nobody else embeds the collection until the end of the block."""
    name = {"name": storable_text(collection)}
    async with database.reading() as connection:
        # The lock belongs to the transaction, which stays open until the end of the block.
        yield bool(await connection.scalar(_CLAIM, name))


async def waiting_passages(
    database: Database, collection: str, model: str, *, after: int, limit: int
) -> tuple[PassageToEmbed, ...]:
    """Return the next passages without a vector of the model, in the order of storing."""
    async with database.reading() as connection:
        return await passages_without_vector(
            connection, collection, model, None, after=after, limit=limit
        )


async def store_passage_vectors(
    database: Database,
    collection: str,
    model: str,
    ids: Sequence[int],
    vectors: Sequence[Sequence[float]],
) -> None:
    """Store the vectors of those passages that are still there."""
    async with database.writing() as connection:
        await store_vectors(connection, collection, model, ids, vectors)
