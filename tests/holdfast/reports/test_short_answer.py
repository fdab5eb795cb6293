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
        (["By the report, Verity Foods lost the 212 pallets."], False),
        (["Verity Foods lost 212 pallets.", "The insurer accepted them."], False),
        (["Verity Foods lost 212 pallets, which the insurer accepted."], True),
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
        ("The table of 2025 has 11,200 and 6,500 places.", False),
        ("The table of 2024 has 11,200 and 6,500 places.", True),
        ("The table of 2025 has 11,200 and about 6,500 places.", True),
        ("The table of 2025 shows 11,200 and 6,500 places.", True),
        ("Mellstone has more pallet places than Corran.", True),
    ],
)
def test_a_summary_adds_nothing_that_says_a_sentence_of_the_quotes_of_few_findings(
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
    ("finding", "summary"),
    [
        ("The pump can run dry.", "The pump can't run dry."),
        ("The pump can run dry.", "The pump cannot run dry."),
        ("The carrier delivered the ten crates.", "The carrier didn't deliver the ten crates."),
        ("The carrier refused to deliver crates.", "The carrier delivered crates."),
        ("The board failed to approve the merger.", "The board approved the merger."),
        ("The drug hardly lowers the pressure.", "The drug lowers the pressure."),
        ("Neither Alba nor Brea paid the fee.", "Alba and Brea paid the fee."),
        ("Alba denies that Brea paid the fee.", "Brea paid the fee."),
        ("It is untrue, says Alba, that Brea paid the fee.", "Brea paid the fee."),
        ("Alba planned to buy Brea.", "Alba buys Brea."),
        ("Der Motor läuft nicht leise.", "Der Motor läuft leise."),
        ("La route n'est pas longue.", "La route est longue."),
        ("The term is six months.", "The term is twelve months."),
        ("The rate rose to 5.3 from 3.5.", "The rate rose to 3.5 from 5.3."),
        ("The store is kept at -40 C.", "The store is kept at 40 C."),
        ("The store is kept at 5 C.", "The store is kept at \N{MINUS SIGN}5 C."),
        ("The share is 5 %.", "The share is 5."),
        ("Alba delivered to Brea.", "Brea delivered to Alba."),
        ("The son of Alba opened the mill.", "Alba opened the mill."),
        ("Alba is the lender of Brea.", "Alba is the lendee of Brea."),
        ("Brea was sued by Alba.", "Brea sued Alba."),
        ("Alba has seven lakes.", "Alba has a seventh lake."),
        ("Alba owned Brea.", "Alba owns Brea."),
    ],
)
def test_a_sentence_that_differs_in_one_word_number_or_order_is_shown(
    finding: str, summary: str
) -> None:
    for said, further in ((finding, summary), (summary, finding)):
        more = ReportStatement(text=further, marks=(1,))
        report = Report(
            question="What of Alba and Brea, six or twelve, did the ten pumps not say?",
            answer="See below",
            summary=(more,),
            findings=(ReportStatement(text=said, marks=(1,)),),
        )

        assert short_answer(report).summary == (more,)


@pytest.mark.conformance("REP-03")
@pytest.mark.parametrize(
    ("question", "answer", "finding", "is_shown"),
    [
        ("What is the capital of France?", "Paris", "The capital of France is Paris.", False),
        ("What is the capital of France?", "Paris", "Paris was the capital of France.", True),
        ("When did the mill open?", "1932", "The mill opened in 1932.", False),
        ("When was the mill opened?", "In May 1932", "The mill was opened in May 1932.", False),
        ("Who opened the mill?", "Ada Marsh", "Ada Marsh opened the mill.", False),
        ("Who opened the mill?", "Son of Ada", "Ada opened the mill.", True),
        ("How many months is the term?", "twelve", "The term is 12.", False),
        ("How many months is the term?", "six", "The term is twelve.", True),
        ("Did prices rise or fall?", "Prices rose", "Prices fell.", True),
        ("Which of the mills, A or B, closed?", "A", "B closed.", True),
        ("Which mill did not close?", "Alba", "Alba closed.", True),
        ("Which mill did not close?", "Alba", "Alba did not close.", True),
        ("Which firm was sued by Alba?", "Brea", "Brea sued Alba.", True),
        ("Which firm was sued by Alba?", "Brea", "Brea was sued by Alba.", False),
        ("Does the lease end?", "Yes, the lease ends.", "The lease ends.", False),
    ],
)
def test_a_finding_is_told_by_the_answer_in_its_question(
    question: str, answer: str, finding: str, *, is_shown: bool
) -> None:
    told = ReportStatement(text=finding, marks=(1,))
    report = Report(question=question, answer=answer, findings=(told,))

    assert short_answer(report).findings == ((told,) if is_shown else ())


def test_findings_of_several_levels_are_shown() -> None:
    one = ReportStatement(text="Paris.", marks=(1,), level=EvidenceLevel.PRIMARY)
    other = one.model_copy(update={"level": EvidenceLevel.SINGLE_SOURCE})
    report = Report(question="What is it?", answer="Paris", findings=(one, other))

    assert short_answer(report).findings == (one, other)
    same = report.model_copy(update={"findings": (one, one)})
    assert short_answer(same).findings == ()


def test_a_label_that_denies_the_answer_is_shown() -> None:
    denied = ReportStatement(text="Wrong: Paris.")
    labelled = ReportStatement(text="The capital: Paris.")
    report = Report(question="What is it?", answer="Paris", summary=(denied, labelled))

    assert short_answer(report).summary == (denied,)


@pytest.mark.conformance("REP-03")
@pytest.mark.parametrize(
    ("answer", "finding", "is_shown"),
    [
        ("31 December 2026", "The lease ends on 31 December 2026.", False),
        ("31 December 2026, moved by amendment no. 2", "Amendment no. 2 moves the end.", True),
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
        analysis=(told.model_copy(update={"text": "31 December 2026."}),),
        conclusions=(ReportConclusion(text=answer, limits="As of 2025."),),
        confidence=0.9,
    )

    lead = short_answer(report)

    assert lead.findings == ((told,) if is_shown else ())
    assert lead.answer is not None
    assert lead.answer.marks == (() if is_shown else (2,))
    assert ("The answer has a single source." in lead.confidence) is not is_shown
    assert ("As of 2025." in lead.confidence, lead.conclusions) == (True, ())


def test_a_conclusion_that_is_or_may_be_less_sure_than_the_answer_is_shown() -> None:
    doubt = ReportConclusion(text="The lease ends in 2026.", confidence=0.5)
    open_doubt = doubt.model_copy(update={"confidence": None})
    report = Report(
        question="When does the lease end?",
        answer="In 2026",
        findings=(ReportStatement(text="The lease ends in 2026."), ReportStatement(text="So.")),
        conclusions=(doubt, open_doubt, doubt.model_copy(update={"confidence": 0.9})),
        confidence=0.9,
    )

    assert short_answer(report).conclusions == (doubt, open_doubt)


@pytest.mark.conformance("REP-03")
@pytest.mark.parametrize(("before", "is_shown"), [(20, False), (4_000, True)])
def test_a_reader_of_very_many_findings_keeps_only_the_first_in_mind(
    before: int, *, is_shown: bool
) -> None:
    summary = ReportStatement(text="Verity Foods lost 212 pallets.", marks=(1,))
    findings = (
        *(summary.model_copy(update={"text": f"Store {n} is full."}) for n in range(before)),
        summary,
    )
    report = Report(
        question="What happened?", answer="a loss", summary=(summary,), findings=findings
    )

    assert short_answer(report).summary == ((summary,) if is_shown else ())
