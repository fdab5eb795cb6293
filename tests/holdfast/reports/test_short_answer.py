"""Tests for the first lines of a report: the short answer, once, and how sure it is."""

import pytest

from holdfast.models.evidence.evidence import (
    Citation,
    Report,
    ReportConclusion,
    ReportStatement,
)
from holdfast.reports.html_rendering import to_html
from holdfast.reports.markdown_and_json_rendering import to_markdown

CITED = Citation(
    mark=1,
    evidence_id=1,
    source_id=1,
    address="a.md",
    title="A",
    heading="",
    start=0,
    end=3,
    quote="Ada",
    sha256="0",
)


def report(answer: str | None, *summary: str, confidence: float | None = 0.8) -> Report:
    return Report(
        question="Who kept it?",
        answer=answer,
        summary=tuple(ReportStatement(text=text, marks=(1,)) for text in summary),
        conclusions=(
            ReportConclusion(
                text="Ada Marsh.", marks=(1,), confidence=confidence, limits="One source says so."
            ),
        ),
        citations=(CITED,),
        confidence=confidence,
    )


@pytest.mark.conformance("REP-03")
@pytest.mark.parametrize("repeated", ["Ada Marsh.", "Keeper: Ada Marsh.", "ada  Marsh"])
def test_the_answer_stands_first_and_once(repeated: str) -> None:
    text = to_markdown(report("Ada Marsh", repeated, "She came in 1932."))

    assert text.startswith(
        "# Who kept it?\n\n**Ada Marsh** [1]\n\n"
        "*Confidence: 80%. One source says so.*\n\nShe came in 1932. [1]\n"
    )
    assert text.count("Marsh") == 1
    assert "## Conclusions" not in text
    page = to_html(report("Ada Marsh", repeated))
    assert page.count("Marsh") == 1
    assert "Confidence: 80%. One source says so." in page


def test_a_sentence_that_says_more_than_the_answer_is_kept() -> None:
    text = to_markdown(report("1932", "It was Ada Marsh in 1932."))
    doubt = to_markdown(report("1932", "The sources do not confirm: 1932."))

    assert "**1932**\n\n*Confidence: 80%.*\n\nIt was Ada Marsh in 1932. [1]\n" in text
    assert "The sources do not confirm: 1932. [1]" in doubt
    assert "- Ada Marsh. [1] (confidence 80%. One source says so.)" in text


@pytest.mark.conformance("REP-01")
def test_a_report_without_an_answer_states_no_confidence() -> None:
    for shown in (to_markdown, to_html):
        text = shown(report(None, "Nobody is named.", confidence=None))
        assert "onfidence" not in text
        assert "Nobody is named." in text
        assert "(One source says so.)" in text
