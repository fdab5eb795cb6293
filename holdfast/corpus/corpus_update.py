"""Read documents into a collection and embed their passages if an embedding model is configured."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from holdfast.configuration.corpus_settings import read_corpus
from holdfast.configuration.embedding_settings import open_embedder
from holdfast.corpus.folder_ingestion import IngestOptions, IngestResult, ingest_folder
from holdfast.corpus.passage_embedding import (
    EmbeddingResult,
    count_passages_for_workers,
    embed_collection,
)
from holdfast.settings import Settings
from holdfast.storage.core.database import Database


async def add_documents(
    settings: Settings,
    database: Database,
    path: Path,
    collection: str | None,
    options: IngestOptions,
) -> tuple[IngestResult, EmbeddingResult | None]:
    """Read the documents and embed their passages; None if there is no embedding model.

    The model on this machine is left to the workers: keyword search is ready at once.
    A repetition continues an interrupted run and skips finished work.

    Raises:
        BadConfiguration: the table [embeddings] or [corpus] is wrong; no document was read.
        BadInput: no document at the path can be read.
        StorageAway: PostgreSQL does not answer.
    """
    new_language = read_corpus(settings.config_file).language
    chosen = replace(options, new_language=new_language)
    async with open_embedder(settings) as embedder:
        ingested = await ingest_folder(database, path, collection, options=chosen)
        if embedder is None:
            return ingested, None
        if embedder.is_local:
            waiting = await count_passages_for_workers(database, ingested.collection, embedder)
            return ingested, waiting
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
    if result.read_again_as is not None:
        yield f"words: all were read again as {result.read_again_as}"
    for path, reason in result.skipped:
        yield f"  skipped {path}: {reason}"
    if embedded is not None and embedded.in_background:
        if embedded.left:
            yield (
                f"vectors: {embedded.left:,} passages will be embedded by {embedded.model} while a "
                "worker has time; until then, searches go by words"
            )
        return
    if embedded is not None and (embedded.embedded or embedded.left):
        yield f"vectors: {embedded.embedded:,} passages embedded by {embedded.model}"
    if embedded is not None and embedded.fault:
        yield (
            f"  {embedded.left:,} passages have no vector yet; only a search by words finds them: "
            f"{embedded.fault}"
        )
        yield "  adding the same folder again embeds the rest"
