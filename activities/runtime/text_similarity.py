"""Find the texts that are nearest in meaning to a text, with the embedding model of a worker."""

import asyncio
from array import array
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import sqrt
from operator import mul
from typing import Protocol

import structlog

from holdfast.models.corpus.embeddings_config import EmbeddingsConfig
from holdfast.models.corpus.search_criteria import QueryVector

log = structlog.get_logger(__name__)

MOST_COMPARED = 2_000
"""The most texts that are compared; the vectors of as many short names take about 15 s."""
_MOST_KEPT = 10_000
_LIMIT_S = 30.0
_DECIMALS = 5


class TextEmbedder(Protocol):
    """A model that turns texts into vectors; it may fail like every model."""

    @property
    def config(self) -> EmbeddingsConfig: ...

    async def query(self, text: str) -> QueryVector: ...

    async def passages(self, texts: Sequence[str]) -> Sequence[Sequence[float]]: ...


@dataclass
class TextSimilarity:
    """Compares texts by the cosine of their vectors, which the process keeps.

    What it finds is an aid: without the model everything goes on by words, so a model that fails
    or is slow fails nothing.
    """

    embedder: TextEmbedder
    limit_s: float = _LIMIT_S
    _kept: OrderedDict[str, "array[float]"] = field(default_factory=OrderedDict)
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def by_nearness(self, text: str, others: Sequence[str]) -> tuple[int, ...] | None:
        """Return the places of the others, the nearest in meaning first; None if unknown.

        Of no texts, and of more than `MOST_COMPARED`, nothing is computed. What was embedded
        before a fault or the end of the time is kept, so the next call begins with it.
        """
        if not 0 < len(others) <= MOST_COMPARED:
            return None
        try:
            async with asyncio.timeout(self.limit_s), self._lock:
                await self._embed(others)
                vectors = [self._kept[each] for each in others]
                wanted = _unit((await self.embedder.query(text)).values)
        except TimeoutError:
            log.info("texts.not_compared", reason="the model took too long")
            return None
        except Exception as error:  # the model's libraries raise what they like
            log.info("texts.not_compared", kind=type(error).__name__, reason=str(error))
            return None
        return await asyncio.to_thread(_sorted_by_nearness, wanted, vectors)

    async def _embed(self, texts: Sequence[str]) -> None:
        for text in dict.fromkeys(texts):
            if text in self._kept:
                self._kept.move_to_end(text)
        missing = [text for text in dict.fromkeys(texts) if text not in self._kept]
        size = self.embedder.config.batch_size
        for start in range(0, len(missing), size):
            batch = missing[start : start + size]
            computed = await self.embedder.passages(batch)
            self._kept.update(zip(batch, map(_unit, computed), strict=True))
        while len(self._kept) > _MOST_KEPT:
            self._kept.popitem(last=False)


def _unit(vector: Sequence[float]) -> "array[float]":
    length = sqrt(sum(map(mul, vector, vector))) or 1.0
    return array("f", [value / length for value in vector])


def _sorted_by_nearness(
    wanted: Sequence[float], vectors: Sequence[Sequence[float]]
) -> tuple[int, ...]:
    # Rounded: an endpoint's vectors of one text differ a little from call to call.
    near = [round(sum(map(mul, wanted, each)), _DECIMALS) for each in vectors]
    return tuple(sorted(range(len(vectors)), key=lambda place: (-near[place], place)))
