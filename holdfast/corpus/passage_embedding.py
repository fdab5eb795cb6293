"""Compute and store the vectors of all passages of a collection that have no vector yet."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from holdfast.configuration.embedding_settings import Embedder
from holdfast.models.errors import BadConfiguration, HoldfastError, ModelUnusable
from holdfast.storage.core.database import Database
from holdfast.storage.corpus.collection_writer import CollectionWriter
from holdfast.storage.corpus.corpus_store import CorpusStore
from holdfast.storage.corpus.passage_vector_rows import PassageToEmbed

EmbeddingProgressCallback = Callable[[str, int, int], object]
"""Receives progress: the activity, how much is done, and the total."""

_CONCURRENT_BATCHES = 4
"""Concurrent batches: enough to hide the latency of the endpoint, within its rate limits."""


@dataclass(frozen=True)
class EmbeddingResult:
    """The result; `fault` says why `left` passages have no vector yet."""

    model: str
    embedded: int
    left: int
    fault: str = ""
    in_background: bool = False
    """True if a worker embeds what is left."""


async def embed_collection(
    database: Database,
    collection: str,
    embedder: Embedder,
    tell: EmbeddingProgressCallback = lambda *_: None,
) -> EmbeddingResult:
    """Embed every passage that has no vector of this model, batch by batch, each stored at once.

    A failure stops the call; the next call continues. Vectors of another model are replaced.

    Raises:
        StorageAway: PostgreSQL does not answer.
    """
    done = total = 0
    fault: HoldfastError | None = None
    async with CorpusStore(database).writing(collection) as writer:
        try:
            await writer.create_vector_table()
            total = await writer.pending(embedder.model, embedder.config.dimension)
            after = 0
            while fault is None and (group := await _next(writer, embedder, after)):
                stored, fault = await _embed_group(writer, embedder, group)
                after = group[-1].passage_id
                done += stored
                tell("embedding", done, total)
        except BadConfiguration as missing:
            fault = missing
    return EmbeddingResult(embedder.model, done, total - done, str(fault or ""))


async def count_passages_for_workers(
    database: Database, collection: str, embedder: Embedder
) -> EmbeddingResult:
    """Prepare the collection for the vectors that workers compute in their spare time.

    Raises:
        StorageAway: PostgreSQL does not answer.
    """
    async with CorpusStore(database).writing(collection) as writer:
        try:
            await writer.create_vector_table()
        except BadConfiguration as missing:
            return EmbeddingResult(embedder.model, 0, 0, str(missing))
        left = await writer.pending(embedder.model, embedder.config.dimension)
    return EmbeddingResult(embedder.model, 0, left, in_background=True)


async def _next(
    writer: CollectionWriter, embedder: Embedder, after: int
) -> tuple[PassageToEmbed, ...]:
    config = embedder.config
    return await writer.passages_without_vector(
        embedder.model, config.dimension, after=after, limit=_CONCURRENT_BATCHES * config.batch_size
    )


async def _embed_group(
    writer: CollectionWriter, embedder: Embedder, group: Sequence[PassageToEmbed]
) -> tuple[int, HoldfastError | None]:
    """Embed some batches concurrently, and store each answered batch even if others failed.

    Returns the number of stored vectors and the first failure.
    """
    size = embedder.config.batch_size
    batches = [group[n : n + size] for n in range(0, len(group), size)]
    dimension = await writer.dimension_of(embedder.model)
    outcomes = await asyncio.gather(*(_batch(embedder, batch) for batch in batches))
    fault: HoldfastError | None = None
    stored = 0
    for batch, outcome in zip(batches, outcomes, strict=True):
        if isinstance(outcome, HoldfastError):
            fault = fault or outcome
        elif wrong := _wrong_dimension(embedder, dimension, outcome):
            fault = fault or wrong
        else:
            ids = [passage.passage_id for passage in batch]
            await writer.put_vectors(embedder.model, ids, outcome)
            dimension = dimension or len(outcome[0])
            stored += len(batch)
    return stored, fault


async def _batch(
    embedder: Embedder, batch: Sequence[PassageToEmbed]
) -> Sequence[Sequence[float]] | HoldfastError:
    try:
        return await embedder.passages([passage.text for passage in batch])
    except HoldfastError as error:
        return error


def _wrong_dimension(
    embedder: Embedder, dimension: int, vectors: Sequence[Sequence[float]]
) -> HoldfastError | None:
    """Return an error if no dimension is configured and the vectors' dimensions differ."""
    got = {len(vector) for vector in vectors}
    if embedder.config.dimension or (len(got) == 1 and got <= {dimension or max(got)}):
        return None
    return ModelUnusable(
        f"embedding model {embedder.model!r} at {embedder.address} answered with "
        f"{', '.join(map(str, sorted(got)))} numbers, and its vectors in this collection "
        f"have {dimension}: write `dimension` in [embeddings] to embed all passages again, "
        "or correct the model"
    )
