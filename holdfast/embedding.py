"""Gives a collection's passages the vectors that they lack; what was embedded stays."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from models.errors import BadConfiguration, HoldfastError, ModelUnusable
from storage.corpus import CollectionWriter, Corpus
from storage.corpus_vectors import ToEmbed
from storage.database import Database

if TYPE_CHECKING:
    from roles.embeddings import Embedder

Tell = Callable[[str, int, int], object]
"""Hears of progress: what is done, how much of it, and how much there is."""

_AT_ONCE = 4
"""Batches under way at a time: enough to hide the way to the endpoint, few for its limits."""


@dataclass(frozen=True)
class Embedded:
    """What came of it; `fault` says why `left` passages have no vector yet."""

    model: str
    embedded: int
    left: int
    fault: str = ""


async def embed(
    database: Database, collection: str, embedder: "Embedder", tell: Tell = lambda *_: None
) -> Embedded:
    """Embed every passage that has no vector of this model, batch by batch, each stored at once.

    A failure ends it, and calling it again goes on from there. Vectors of another model give way.

    Raises:
        StorageAway: PostgreSQL does not answer.
    """
    done = total = 0
    fault: HoldfastError | None = None
    async with Corpus(database).writing(collection) as writer:
        try:
            await writer.make_room_for_vectors()
            total = await writer.pending(embedder.model, embedder.config.dimension)
            after = 0
            while fault is None and (group := await _next(writer, embedder, after)):
                stored, fault = await _embed_group(writer, embedder, group)
                after = group[-1].passage_id
                done += stored
                tell("embedding", done, total)
        except BadConfiguration as missing:
            fault = missing
    return Embedded(embedder.model, done, total - done, str(fault or ""))


async def _next(writer: CollectionWriter, embedder: "Embedder", after: int) -> tuple[ToEmbed, ...]:
    config = embedder.config
    return await writer.without_vector(
        embedder.model, config.dimension, after=after, limit=_AT_ONCE * config.batch_size
    )


async def _embed_group(
    writer: CollectionWriter, embedder: "Embedder", group: Sequence[ToEmbed]
) -> tuple[int, HoldfastError | None]:
    """Some batches at once; those that came back are stored, whatever became of the others.

    Gives how many passages have their vector now, and the first failure.
    """
    size = embedder.config.batch_size
    batches = [group[n : n + size] for n in range(0, len(group), size)]
    known = await writer.dimension_of(embedder.model)
    outcomes = await asyncio.gather(*(_batch(embedder, batch) for batch in batches))
    fault: HoldfastError | None = None
    stored = 0
    for batch, outcome in zip(batches, outcomes, strict=True):
        if isinstance(outcome, HoldfastError):
            fault = fault or outcome
        elif wrong := _wrong_dimension(embedder, known, outcome):
            fault = fault or wrong
        else:
            ids = [each.passage_id for each in batch]
            await writer.put_vectors(embedder.model, ids, outcome)
            known = known or len(outcome[0])
            stored += len(batch)
    return stored, fault


async def _batch(
    embedder: "Embedder", batch: Sequence[ToEmbed]
) -> Sequence[Sequence[float]] | HoldfastError:
    try:
        return await embedder.passages([each.text for each in batch])
    except HoldfastError as error:
        return error


def _wrong_dimension(
    embedder: "Embedder", known: int, vectors: Sequence[Sequence[float]]
) -> HoldfastError | None:
    """Without a dimension in the table, the first vectors of a model say what it is."""
    got = {len(vector) for vector in vectors}
    if embedder.config.dimension or (len(got) == 1 and got <= {known or max(got)}):
        return None
    return ModelUnusable(
        f"embedding model {embedder.model!r} at {embedder.address} answered with "
        f"{', '.join(map(str, sorted(got)))} numbers, its vectors in this collection have {known}: "
        "write `dimension` in [embeddings] to have all embedded anew, or correct the model"
    )
