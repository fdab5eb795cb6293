"""Read documents into a collection and embed their passages if an embedding model is configured."""

from collections.abc import Iterator
from pathlib import Path

from holdfast.configuration.embedding_settings import open_embedder
from holdfast.corpus.folder_ingestion import IngestOptions, IngestResult, ingest_folder
from holdfast.corpus.passage_embedding import EmbeddingResult, embed_collection
from holdfast.settings import Settings
from holdfast.storage.core.database import Database


async def add_documents(
    settings: Settings,
    database: Database,
    path: Path,
    collection: str | None,
    options: IngestOptions,
) -> tuple[IngestResult, EmbeddingResult | None]:
    """Read the documents and embed their passages; None if no embedding model is configured.

    A repetition continues an interrupted run and skips finished work.

    Raises:
        BadConfiguration: the table [embeddings] is wrong; no document was read.
        BadInput: no document at the path can be read.
        StorageAway: PostgreSQL does not answer.
    """
    async with open_embedder(settings) as embedder:
        ingested = await ingest_folder(database, path, collection, options=options)
        if embedder is None:
            return ingested, None
        return ingested, await embed_collection(
            database, ingested.collection, embedder, options.tell
        )


def ingestion_lines(result: IngestResult, embedded: EmbeddingResult | None) -> Iterator[str]:
    """Yield lines for the terminal that describe the result."""
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
            f"  {embedded.left:,} passages have no vector yet; only a search by words finds them: "
            f"{embedded.fault}"
        )
        yield "  adding the same folder again embeds the rest"
