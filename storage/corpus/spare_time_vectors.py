"""Claim a collection for embedding, and read and store its passages without holding its writer."""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager

from holdfast.models.text.storable_text import storable_text
from holdfast.storage.core.database import Database
from holdfast.storage.core.exclusive_turns import exclusive_turn
from holdfast.storage.corpus.passage_vector_rows import (
    PassageToEmbed,
    create_vector_table,
    has_vector_table,
    incomplete_collections,
    passages_without_vector,
    store_vectors,
)


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


def embedding_claimed(database: Database, collection: str) -> AbstractAsyncContextManager[bool]:
    """Yield True if nobody else embeds the collection until the end of the block."""
    return exclusive_turn(database, f"embed {storable_text(collection)}")


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
