"""Tests for the first lines of a report: the answer, and a summary that adds to it."""

import pytest

from holdfast.models.evidence.evidence import (
    Citation,
    EvidenceLevel,
    Report,
    ReportConclusion,
    ReportStatement,
)
from holdfast.reports.short_answer import short_answer


@pytest.mark.conformance("REP-03")
@pytest.mark.parametrize(
    ("summary", "is_shown"),
    [
        (["Verity Foods lost 212 pallets, by the report."], False),
        (["Verity Foods lost 212 pallets.", "The insurer accepted them."], False),
        (["Verity Foods loses 212 pallets, which an insurer accepts."], False),
        (["Verity Foods lost 212 pallets.", "The board said about 240."], True),
        (["Verity Foods lost no 212 pallets."], True),
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


@pytest.mark.conformance("REP-03")
@pytest.mark.parametrize(
    ("summary", "is_shown"),
    [
        ("Mellstone has more pallet places than Corran.", False),
        ("Mellstone has more pallet places than Corran, by the table of 2025.", False),
        ("Mellstone has more pallet places than Corran, by the table of 2024.", True),
        ("Mellstone has 4,700 more pallet places than Corran.", True),
        ("Mellstone offers more pallet places than Corran, by the table of 2025.", False),
        ("Mellstone has nearly more pallet places than Corran, by the table of 2025.", True),
        ("Mellstone has more pallet places than Ashby, by the table of 2025.", True),
    ],
)
def test_a_summary_may_join_few_findings_with_words_of_their_quotes(
    summary: str, *, is_shown: bool
) -> None:
    told = ReportStatement(text=summary, marks=(1,))
    quote = "The table of 2025 has 11,200 and 6,500 places."
    cited = Citation(
        mark=1,
        evidence_id=1,
        source_id=1,
        quote=quote,
        title="sites",
        address="sites.csv",
        heading="",
        start=0,
        end=len(quote),
        sha256="x",
    )
    report = Report(
        question="Which has more pallet places, Mellstone or Corran?",
        answer="Mellstone, by 11,200 to 6,500",
        summary=(told,),
        findings=(ReportStatement(text="Mellstone has 11,200 places.", marks=(1,)),),
        citations=(cited,),
    )

    assert short_answer(report).summary == ((told,) if is_shown else ())


@pytest.mark.conformance("REP-03")
@pytest.mark.parametrize(
    ("answer", "finding", "is_shown"),
    [
        ("31 December 2026, moved by amendment no. 2", "Amendment no. 2 moves the end.", False),
        ("31 December 2026", "The lease ended on 30 June 2026 before it was moved.", True),
        ("Yes", "The lease ends.", True),
    ],
)
def test_findings_that_the_answer_tells_leave_it_their_marks_and_their_level(
    answer: str, finding: str, *, is_shown: bool
) -> None:
    told = ReportStatement(text=finding, marks=(2,), level=EvidenceLevel.SINGLE_SOURCE)
    report = Report(
        question="When does the lease end?",
        answer=answer,
        findings=(told,),
        analysis=(told.model_copy(update={"text": "The end moved."}),),
        conclusions=(ReportConclusion(text="The lease ends.", limits="As of 2025."),),
        confidence=0.9,
    )

    lead = short_answer(report)

    assert lead.findings == ((told,) if is_shown else ())
    assert lead.answer is not None
    assert lead.answer.marks == (() if is_shown else (2,))
    assert ("The answer has a single source." in lead.confidence) is not is_shown
    assert ("As of 2025." in lead.confidence, lead.conclusions) == (True, ())


def test_a_conclusion_that_is_less_sure_than_the_answer_is_shown() -> None:
    doubt = ReportConclusion(text="The lease ends in 2026.", confidence=0.5)
    report = Report(
        question="When does the lease end?",
        answer="In 2026",
        findings=(ReportStatement(text="The lease was to end in 2025, and ends in 2026."),),
        conclusions=(doubt, doubt.model_copy(update={"confidence": 0.9})),
        confidence=0.9,
    )

    assert short_answer(report).conclusions == (doubt,)
