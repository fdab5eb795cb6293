"""Tests that reports without an answer say so in one wording."""

import pytest

from holdfast.models.evidence.evidence import Report, ReportStatement
from holdfast.models.loop.loop_results import LoopResult
from holdfast.models.reports.report_writer_messages import SynthesiserTask
from holdfast.planning.reports.loop_report import loop_report
from holdfast.planning.reports.not_found_text import NOT_FOUND, with_documents_counted
from holdfast.roles.extractive.reports.synthesiser_rules import synthesise


@pytest.mark.conformance("REP-05")
def test_a_loop_and_the_built_in_writer_say_the_same_where_nothing_was_found() -> None:
    of_loop = loop_report("Who?", LoopResult(short="", open=("who it was",)), (), ())
    of_plan = synthesise(SynthesiserTask(question="Who?", answer=None, evidence=()))

    assert of_loop.summary[0].text == of_plan.summary[0].text == NOT_FOUND


@pytest.mark.conformance("REP-05")
@pytest.mark.parametrize(
    ("documents", "text"),
    [
        (None, NOT_FOUND),
        (0, NOT_FOUND),
        (1, "Not found in your document."),
        (1_200, "Not found in your 1,200 documents."),
    ],
)
def test_the_documents_of_the_collection_are_counted(documents: int | None, text: str) -> None:
    said = (ReportStatement(text=NOT_FOUND), ReportStatement(text="The barrier is late."))
    report = Report(question="Who?", answer=None, summary=said, documents=documents)

    counted = with_documents_counted(report)

    assert [each.text for each in counted.summary] == [text, "The barrier is late."]
