"""Tests for evidence levels: the evidence of each sentence of a report, in every format."""

from collections.abc import Callable
from datetime import UTC, datetime
from itertools import permutations

import pytest

from holdfast.models.evidence.evidence import (
    Citation,
    EvidenceLevel,
    Report,
    ReportConclusion,
    ReportContradiction,
    ReportStatement,
)
from holdfast.models.strategies.job_strategy import Strategy
from holdfast.planning.reports.evidence_levels import evidence_level, with_evidence_levels
from holdfast.reports.check_summary import check_lines
from holdfast.reports.exports.report_outline import report_outline
from holdfast.reports.html_rendering import to_html
from holdfast.reports.markdown_and_json_rendering import to_json, to_markdown

pytestmark = pytest.mark.conformance("REP-06")

NONE, SINGLE, CORROBORATED, PRIMARY = EvidenceLevel


def citation(mark: int, address: str, sha256: str = "") -> Citation:
    return Citation(
        mark=mark,
        evidence_id=mark,
        source_id=mark,
        address=address,
        title=address,
        heading="",
        start=0,
        end=4,
        quote=f"quote {mark}",
        sha256=sha256 or f"hash {mark}",
        fetched_at=datetime(2026, 1, 1, tzinfo=UTC),
    )


@pytest.mark.parametrize(
    ("citations", "level"),
    [
        ([], NONE),
        ([citation(1, "a.md"), citation(2, "a.md")], SINGLE),
        ([citation(1, "a.md", "same"), citation(2, "copy.md", "same")], SINGLE),
        ([citation(1, "a.md"), citation(2, "b.md")], CORROBORATED),
        ([citation(1, "a.md"), citation(2, "contracts/7.pdf")], PRIMARY),
    ],
)
def test_a_sentence_has_no_evidence_one_document_several_or_a_primary_one(
    citations: list[Citation], level: EvidenceLevel
) -> None:
    assert evidence_level("Quote.", citations, ("contracts/*",)) is level


@pytest.mark.parametrize(
    ("sentence", "one", "other", "level"),
    [
        ("212 pallets were lost.", "212 pallets were written off.", "a loss of 212", CORROBORATED),
        ("It cost £25,000 less £1,500.", "an excess of £25,000", "credited £1,500", SINGLE),
        ("Anton Reyes signed for Verity.", "signed: Anton Reyes, Verity", "Mr Okafor came", SINGLE),
        (
            "Anton Reyes signed for it.",
            "signed: Anton Reyes",
            "Reyes signed it, Anton",
            CORROBORATED,
        ),
    ],
)
def test_documents_that_show_different_parts_of_a_sentence_do_not_corroborate_it(
    sentence: str, one: str, other: str, level: EvidenceLevel
) -> None:
    cited = [
        citation(1, "a.md").model_copy(update={"quote": one}),
        citation(2, "b.md").model_copy(update={"quote": other}),
    ]

    assert evidence_level(sentence, cited, ()) is level


def test_the_order_of_the_marks_does_not_change_the_level() -> None:
    cited = [citation(1, "a", "X"), citation(2, "b", "X"), citation(3, "b", "Y")]

    assert {evidence_level("Quote.", each, ()) for each in permutations(cited)} == {CORROBORATED}
    assert {evidence_level("Quote.", each, ()) for each in permutations(cited[:2])} == {SINGLE}


def report(*, strength: str = "") -> Report:
    one, two = (
        ReportStatement(text=f"Finding {n}.", marks=marks, strength=strength)
        for n, marks in ((1, (1,)), (2, (1, 2)))
    )
    bare = Report(
        question="Which?",
        answer="This",
        summary=(ReportStatement(text="This", marks=(1, 2)),),
        findings=(one, two),
        conclusions=(ReportConclusion(text="So it is.", marks=(2,)),),
        contradictions=(ReportContradiction(one=one, other=two),),
        citations=(citation(1, "a.md"), citation(2, "b.md")),
    )
    return with_evidence_levels(bare, Strategy(primary_sources="b*, c*").primary_sources)


def test_every_sentence_has_its_level_and_every_format_shows_it_with_the_findings() -> None:
    whole = report()

    levels = [each.level for each in whole.sentences]
    assert levels == [PRIMARY, SINGLE, PRIMARY, PRIMARY, SINGLE, PRIMARY]
    shown = to_json(whole)["findings"]
    assert isinstance(shown, list)
    assert "single source" in str(shown[0])
    assert "- Finding 1. [1] (single source)" in to_markdown(whole)
    assert "(single source)" in to_html(whole)
    assert "(primary)" in to_html(whole)
    assert "single source" in str(report_outline(whole))
    counted = "Cited sentences: 2 with a single source, 3 with a primary source"
    assert counted in check_lines(whole)


def test_the_table_of_evidence_says_the_level_next_to_the_strength() -> None:
    assert "| stated; single source |" in to_markdown(report(strength="stated"))
    assert "<td>stated; primary</td>" in to_html(report(strength="stated"))


@pytest.mark.conformance("REP-03")
@pytest.mark.parametrize("shown", [to_markdown, to_html, report_outline])
@pytest.mark.parametrize("strength", ["", "stated"])
def test_the_level_that_all_sentences_have_is_said_once(
    shown: Callable[[Report], object], strength: str
) -> None:
    whole = with_evidence_levels(report(strength=strength), ())
    single = whole.model_copy(update={"summary": (), "findings": (whole.findings[0],) * 3})
    bare = single.model_copy(update={"conclusions": (), "contradictions": ()})

    assert str(shown(bare)).count("single source") == 1


def test_a_report_of_an_earlier_release_says_nothing_of_levels() -> None:
    old = report().model_dump(mode="json")
    for part in ("summary", "findings", "conclusions"):
        for each in old[part]:
            del each["level"]
    for each in old["contradictions"]:
        del each["one"]["level"], each["other"]["level"]

    assert "single source" not in to_markdown(Report.model_validate(old))
