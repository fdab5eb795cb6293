"""Tests of the offline measure of the built-in model."""

import json
from pathlib import Path

import pytest

from holdfast.evals.extractive_offline import main, run_question
from holdfast.evals.measures.question_files import EvaluationQuestion, QuestionParagraph
from holdfast.evals.offline.offline_table import offline_table
from holdfast.models.evidence.answer_routes import AnswerRoute

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
    lines = list(offline_table([job], {AnswerRoute.STATED: 0.6}))
    assert any("stated 0.60 on average" in line for line in lines)
    assert next(line for line in lines if line.startswith("all")).split()[:4] == [
        "all",
        "1",
        "100.0",
        "100.0",
    ]


@pytest.mark.conformance("EVA-01")
def test_the_command_prints_a_calibration_and_takes_it_back(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    row = {
        "_id": "q",
        "question": "Who designed Selby Bridge?",
        "answer": "Ada Marsh",
        "type": "bridge",
        "supporting_facts": [["Selby Bridge", 0]],
        "context": [["Selby Bridge", [BRIDGE.text]], ["Orme Pier", [PIER.text]]],
    }
    file, table = tmp_path / "questions.jsonl", tmp_path / "table.toml"
    file.write_text("\n".join(json.dumps({**row, "_id": str(at)}) for at in range(5)))

    assert main([str(file), "--uncalibrated", "--calibrate"]) == 0
    printed = capsys.readouterr().out
    assert "5 answers, 100.0% right, stated 0.80 on average" in printed
    table.write_text("[calibration" + printed.partition("[calibration")[2].replace("1 ", "0.25 "))
    assert main([str(file), "--calibration", str(table)]) == 0

    assert "stated 0.25 on average" in capsys.readouterr().out


def test_a_file_that_is_not_there_ends_with_a_message(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(tmp_path / "none.jsonl")]) == 2
    assert "cannot be read" in capsys.readouterr().err
