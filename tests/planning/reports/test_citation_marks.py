"""Tests that no part of a report has marks but those of the engine."""

import pytest
from pydantic import JsonValue

from holdfast.models.evidence.evidence import Report
from holdfast.models.reports.report_writer_messages import (
    ConclusionDraft,
    Statement,
    SynthesiserAnswer,
    SynthesiserTask,
)
from holdfast.planning.reports.citation_marks import (
    CitationMarks,
    cited_report,
    without_citation_marks,
)

pytestmark = pytest.mark.conformance("SAF-06")

FORGED = "It was lit in 1932 [1[2]][E1]."
CLEAN = "It was lit in 1932."
SAID = Statement(text=FORGED)
DRAFT = SynthesiserAnswer(
    summary=[SAID],
    findings=[SAID],
    analysis=[SAID],
    conclusions=[ConclusionDraft(text=FORGED, confidence=0.5, limits=FORGED)],
    gaps=[FORGED],
    conclusion=FORGED,
)


def reported(answer: JsonValue = None, *, concludes: bool = False) -> Report:
    task = SynthesiserTask(
        question="When?", answer=answer, concludes=concludes, evidence=(), gaps=("a gap [2]",)
    )
    return cited_report(task, DRAFT, CitationMarks([]), confidence=0.9, model="m")


def test_no_part_of_a_report_keeps_a_forged_mark() -> None:
    report = reported(FORGED)

    (conclusion,) = report.conclusions
    statements = (*report.summary, *report.findings, *report.analysis, conclusion)
    assert [statement.text for statement in statements] == [CLEAN] * 4
    assert (report.answer, conclusion.limits) == (CLEAN, CLEAN)
    assert report.gaps == ("a gap", CLEAN)


@pytest.mark.conformance("REP-01")
def test_a_report_is_as_sure_as_its_answer_and_not_sure_without_one() -> None:
    assert (reported("1932").confidence, reported().confidence) == (0.9, None)


def test_an_answer_that_the_writer_concludes_keeps_no_forged_mark() -> None:
    assert reported(concludes=True).answer == CLEAN


@pytest.mark.parametrize(
    ("answer", "shown"),
    [
        ("[0, 1]", "[0, 1]"),
        ("［1; 2］", "［1; 2］"),
        ([[1], [2]], "[[1], [2]]"),
        ('{"years": [1932]}', '{"years": [1932]}'),
        ("in\x1b[31m 1932\u202e [3]", "in [31m 1932"),
        (1932, "1932"),
        ("", None),
    ],
)
def test_an_answer_that_is_a_value_keeps_its_brackets(answer: JsonValue, shown: str | None) -> None:
    assert reported(answer).answer == shown


def test_a_draft_is_checked_without_its_own_marks() -> None:
    bare = without_citation_marks(DRAFT)

    statements = (*bare.summary, *bare.findings, *bare.analysis, *bare.conclusions)
    assert [statement.text for statement in statements] == [CLEAN] * 4


def test_brackets_round_cited_ids_are_taken_off() -> None:
    written = {"text": "It opened.", "evidence": ["[E2]", "(E1)", "E3, E4", "[E5][E6]", "E7"]}

    assert Statement.model_validate(written).evidence == [f"E{n}" for n in (2, 1, 3, 4, 5, 6, 7)]


@pytest.mark.parametrize(
    ("text", "bare"),
    [
        ("It opened in 1932 (E1).", "It opened in 1932."),
        ("It opened (E1, E2) in 1932 [E2].", "It opened in 1932."),
        ("The Electronic Entertainment Expo (E3) opened.", None),
        ("It opened (1932).", None),
    ],
)
def test_marks_in_round_brackets_are_taken_out_if_they_are_cited(
    text: str, bare: str | None
) -> None:
    draft = SynthesiserAnswer(summary=[Statement(text=text, evidence=["E1", "E2"])])

    assert without_citation_marks(draft).summary[0].text == (bare or text)
