"""Tests for the first lines of a report: the answer, and a summary that adds to it."""

import pytest

from holdfast.models.evidence.evidence import Report, ReportStatement
from holdfast.reports.short_answer import short_answer


@pytest.mark.conformance("REP-03")
@pytest.mark.parametrize(
    ("summary", "is_shown"),
    [
        (["Verity Foods lost 212 pallets, by the report."], False),
        (["Verity Foods lost 212 pallets.", "The insurer accepted them."], False),
        (["Verity Foods lost 212 pallets.", "The board said about 240."], True),
        (["Verity Foods did not lose 212 pallets."], True),
        (["Verity Foods lost 7 of 212 pallets."], True),
    ],
)
def test_a_summary_that_adds_nothing_to_answer_and_findings_is_left_out_whole(
    summary: list[str], *, is_shown: bool
) -> None:
    report = Report(
        question="How many pallets of Verity Foods were lost?",
        answer="212 pallets",
        summary=tuple(ReportStatement(text=text, marks=(1,)) for text in summary),
        findings=(
            ReportStatement(text="By the report, Verity Foods lost 212 pallets.", marks=(1,)),
            ReportStatement(text="The insurer accepted them.", marks=(2,)),
        ),
    )

    assert [each.text for each in short_answer(report).summary] == (summary if is_shown else [])


def test_a_summary_stays_that_cites_more_or_has_no_answer_above_it() -> None:
    told = ReportStatement(text="212 pallets were lost.", marks=(1,))
    more = told.model_copy(update={"marks": (1, 2)})
    bare = Report(question="How many?", answer="212 pallets", findings=(told,), summary=(more,))

    assert short_answer(bare).summary == (more,)
    unanswered = bare.model_copy(update={"answer": None, "summary": (told,)})
    assert short_answer(unanswered).summary == (told,)
