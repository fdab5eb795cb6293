"""Tests of the offline measure of the built-in model."""

from pathlib import Path

import pytest

from holdfast.evals.extractive_offline import main, run_question
from holdfast.evals.measures.question_files import EvaluationQuestion, QuestionParagraph
from holdfast.evals.offline.offline_table import offline_table

BRIDGE = QuestionParagraph(
    "Selby Bridge",
    "Selby Bridge",
    "Selby Bridge is a road bridge. Selby Bridge was designed by Ada Marsh.",
    is_gold=True,
)
PIER = QuestionParagraph(
    "Orme Pier", "Orme Pier", "Orme Pier is a pier. It closed in 1931.", is_gold=False
)


async def test_a_question_is_answered_and_cites_its_gold_passage() -> None:
    question = EvaluationQuestion(
        "q", "Who designed Selby Bridge?", ("Ada Marsh",), "simple", (PIER, BRIDGE)
    )

    job = await run_question(question)

    assert job.answer == "Ada Marsh"
    assert job.passages_cited == [1]
    assert next(line for line in offline_table([job]) if line.startswith("all")).split()[:4] == [
        "all",
        "1",
        "100.0",
        "100.0",
    ]


def test_a_file_that_is_not_there_ends_with_a_message(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(tmp_path / "none.jsonl")]) == 2
    assert "cannot be read" in capsys.readouterr().err
