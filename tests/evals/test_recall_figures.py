"""Tests of the recall of searches, with the real sentence model over a few paragraphs."""

from collections.abc import AsyncIterator

import pytest

from holdfast.evals.measures.question_files import EvaluationQuestion, QuestionParagraph
from holdfast.evals.recall.recall_figures import measure_recall
from holdfast.roles.sentence_model.local_embedder import LocalEmbedder, weights_folder

pytestmark = [pytest.mark.slow, pytest.mark.conformance("EVA-04")]


@pytest.fixture
async def embedder() -> AsyncIterator[LocalEmbedder]:
    folder = weights_folder()
    assert folder is not None, "the tests' environment has the weights"
    model = LocalEmbedder(folder)
    yield model
    await model.aclose()


def _question(name: str, text: str, gold: str, other: str) -> EvaluationQuestion:
    paragraphs = (
        QuestionParagraph(f"{name} a", gold[:9], gold, is_gold=True),
        QuestionParagraph(f"{name} b", other[:9], other, is_gold=False),
    )
    return EvaluationQuestion(name, text, ("x",), "bridge", paragraphs)


async def test_what_only_meaning_finds_is_recall_of_both_but_not_of_words(
    database_url: str, embedder: LocalEmbedder
) -> None:
    shared = "The bakery sold loaves every morning."
    asked = [
        _question("one", "medical care", "A physician treated the sick.", shared),
        _question("two", "bakery", shared, "Timber came from the north."),
    ]

    figures, embedding = await measure_recall(database_url, embedder, {"f": asked})

    # The paragraph that both questions have is stored once.
    assert embedding["passages"] == 3
    assert {each.mode: each.recall_at_10 for each in figures} == {
        "keyword": 50.0,
        "semantic": 100.0,
        "hybrid": 100.0,
    }
    assert [each.over_keyword for each in figures] == [0.0, 50.0, 50.0]
