"""Tests for the lines of a report that say how it was checked and who wrote it."""

from collections.abc import Callable

import pytest

from holdfast.models.budget.job_stages import Stage, StageName
from holdfast.models.evidence.evidence import CheckSummary, DeliveryCheck, Report
from holdfast.reports.check_summary import (
    author_line,
    check_summary_lines,
    delivery_check_lines,
    same_model_lines,
)
from holdfast.reports.exports.report_outline import report_outline
from holdfast.reports.html_rendering import to_html
from holdfast.reports.markdown_and_json_rendering import to_markdown

SENT_BACK = "3 of the first draft sent back to the writer"


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("tasks", "Tasks: result"),
        ("questions", "Open questions: result"),
        ("contradictions", "Contradictions: result"),
        ("citations", "Citations: result"),
        ("spend", "Accounting: result"),
        ("check of a later release", "Check of a later release: result"),
    ],
)
def test_a_delivery_check_is_named_in_plain_words(name: str, line: str) -> None:
    check = DeliveryCheck(name=name, has_passed=True, detail="result")

    assert delivery_check_lines([check]) == [line]


@pytest.mark.parametrize(
    ("name", "detail"),
    [
        ("tasks", "1 of 1 done"),
        ("tasks", "12 of 12 done"),
        ("questions", "none"),
        ("contradictions", "none found"),
        ("spend", "every call is accounted for"),
    ],
)
def test_a_check_that_found_nothing_special_is_not_told(name: str, detail: str) -> None:
    assert delivery_check_lines([DeliveryCheck(name=name, has_passed=True, detail=detail)]) == []


@pytest.mark.parametrize(
    ("name", "detail", "has_passed"),
    [
        ("tasks", "1 of 11 done; the report names the others as gaps", True),
        ("contradictions", "1 settled, 0 shown", True),
        ("citations", "all 3 quotes found in their sources", True),
        ("spend", "none", False),
    ],
)
def test_a_check_with_a_count_or_a_fault_is_told(name: str, detail: str, has_passed: bool) -> None:
    (line,) = delivery_check_lines([DeliveryCheck(name=name, has_passed=has_passed, detail=detail)])

    assert line.endswith(f": {detail}")


@pytest.mark.parametrize(
    ("summary", "line"),
    [
        (CheckSummary(checked=0), "No sentence was written, so none was checked"),
        (CheckSummary(checked=6, kept=6), "6 sentences checked (by rules, no model): all kept"),
        (
            CheckSummary(checked=1, judged=1, dropped=1, checked_by="strict"),
            "1 sentence checked (by strict): 0 kept, 1 dropped",
        ),
        (
            CheckSummary(
                checked=9, judged=6, kept=6, hedged=1, dropped=2, refused=3, checked_by="strict"
            ),
            f"9 sentences checked (6 by strict, 3 by rules): 6 kept, 1 hedged, 2 dropped; {SENT_BACK}",
        ),
        (
            CheckSummary(checked=4, kept=4, refused=3, checked_by="strict"),
            f"4 sentences checked (by rules, no model): all kept; {SENT_BACK}",
        ),
    ],
)
def test_the_sentences_are_counted_by_outcome(summary: CheckSummary, line: str) -> None:
    assert check_summary_lines(summary) == [line]


def test_a_report_of_the_built_in_model_says_that_it_only_quotes() -> None:
    report = Report(question="Who?", answer="Ada", model="extractive")

    assert author_line(report) == "Written by the built-in model (extractive): quotes only."
    assert author_line(report.model_copy(update={"model": "b, with a"})) == "Written by b, with a."
    assert author_line(report.model_copy(update={"model": ""})) == "No model wrote this report."


@pytest.mark.parametrize(
    ("judge", "judged", "is_said"), [("writer", 3, True), ("other", 3, False), ("writer", 0, False)]
)
def test_a_report_says_when_its_writer_judged_it(judge: str, judged: int, is_said: bool) -> None:
    summary = CheckSummary(checked=3, judged=judged, kept=3, checked_by=judge)
    report = Report(question="Who?", answer=None, model="writer", check_summary=summary)

    said = same_model_lines(report)

    assert said == (
        ["Written and judged by the same model: no other one has read it"] if is_said else []
    )


@pytest.mark.conformance("REP-03")
@pytest.mark.parametrize("shown", [to_markdown, to_html, report_outline])
def test_the_stages_of_a_report_are_named_in_plain_words(shown: Callable[[Report], object]) -> None:
    stages = tuple(Stage(name=name, why="It was needed.") for name in StageName)
    text = str(shown(Report(question="Who?", answer="Ada", stages=stages)))

    for stage in StageName:
        assert f"{stage.in_words.capitalize()}: 0 calls" in text
        assert f"{stage.value.capitalize()}:" not in text
