"""Adds documents to a collection, and their vectors where a model for them is configured."""

from collections.abc import Iterator
from pathlib import Path

from holdfast.embedding import Embedded, embed
from holdfast.embeddings import opened_embedder
from holdfast.ingest import Ingested, Manner, ingest
from holdfast.settings import Settings
from storage.database import Database


async def add(
    settings: Settings, database: Database, path: Path, collection: str | None, manner: Manner
) -> tuple[Ingested, Embedded | None]:
    """What was read, and what was embedded; None where no model is configured.

    Repeating goes on where an earlier run was cut off, and does nothing that is done.

    Raises:
        BadConfiguration: the table [embeddings] cannot be used; nothing was read.
        BadInput: nothing at the path can be read.
        StorageAway: PostgreSQL does not answer.
    """
    async with opened_embedder(settings) as embedder:
        ingested = await ingest(database, path, collection, manner=manner)
        if embedder is None:
            return ingested, None
        return ingested, await embed(database, ingested.collection, embedder, manner.tell)


def added_lines(result: Ingested, embedded: Embedded | None) -> Iterator[str]:
    """What came of it, for people."""
    changed = result.added + result.changed
    yield (
        f"documents: {changed} read, {result.unchanged} unchanged, {result.removed} removed, "
        f"{len(result.skipped)} skipped (collection {result.collection})"
    )
    for path, reason in result.skipped:
        yield f"  skipped {path}: {reason}"
    if embedded is not None and (embedded.embedded or embedded.left):
        yield f"vectors: {embedded.embedded:,} passages embedded by {embedded.model}"
    if embedded is not None and embedded.fault:
        yield (
            f"  {embedded.left:,} passages have no vector yet, and are found by their words alone: "
            f"{embedded.fault}"
        )
        yield "  adding the same folder again embeds the rest"
