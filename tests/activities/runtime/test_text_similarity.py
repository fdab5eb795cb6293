"""Tests for finding what is nearest in meaning: what is embedded once, and a model that fails."""

import asyncio
from collections.abc import Sequence

import pytest

from holdfast.activities.runtime.text_similarity import MOST_COMPARED, TextSimilarity
from holdfast.models.corpus.embeddings_config import EmbeddingsConfig
from holdfast.models.corpus.search_criteria import QueryVector
from holdfast.models.errors import ModelBusy

VECTORS = {"ship": (3.0, 1.0), "boat": (2.0, 1.0), "tower": (0.0, 5.0), "vessel": (1.0, 0.5)}


class Dictionary:
    """Knows the vectors of four words; counts what it embeds, and may fail or hang."""

    config = EmbeddingsConfig(model="dictionary", batch_size=2)

    def __init__(self) -> None:
        self.embedded: list[str] = []
        self.fault: Exception | None = None
        self.hangs = False

    async def query(self, text: str) -> QueryVector:
        return QueryVector(model="dictionary", values=VECTORS[text])

    async def passages(self, texts: Sequence[str]) -> list[Sequence[float]]:
        if self.hangs:
            await asyncio.Event().wait()
        if self.fault:
            raise self.fault
        self.embedded += texts
        return [VECTORS.get(text, (1.0, 1.0)) for text in texts]


async def test_the_nearest_come_first_and_each_text_is_embedded_once() -> None:
    model = Dictionary()
    similarity = TextSimilarity(model)

    first = await similarity.by_nearness("vessel", ["tower", "ship", "boat"])
    again = await similarity.by_nearness("vessel", ["boat", "tower"])

    assert (first, again) == ((2, 1, 0), (0, 1))
    assert model.embedded == ["tower", "ship", "boat"]


@pytest.mark.parametrize(
    "fault",
    [ModelBusy("busy"), OSError("the weights are gone"), Exception("of a foreign library")],
    ids=lambda fault: type(fault).__name__,
)
async def test_a_model_that_fails_gives_no_order_and_raises_nothing(fault: Exception) -> None:
    model = Dictionary()
    model.fault = fault

    assert await TextSimilarity(model).by_nearness("vessel", ["tower"]) is None


async def test_a_model_that_hangs_gives_no_order() -> None:
    model = Dictionary()
    model.hangs = True

    assert await TextSimilarity(model, limit_s=0.05).by_nearness("vessel", ["tower"]) is None


async def test_of_no_text_and_of_too_many_the_model_is_not_asked() -> None:
    model = Dictionary()
    similarity = TextSimilarity(model)

    none = await similarity.by_nearness("vessel", [])
    many = await similarity.by_nearness("vessel", [str(n) for n in range(MOST_COMPARED + 1)])

    assert (none, many, model.embedded) == (None, None, [])
