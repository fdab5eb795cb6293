"""Tests for the report of a job that one cited loop answered."""

import pytest

from holdfast.models.evidence.evidence import StoredEvidence
from holdfast.models.loop.loop_results import LoopResult, ProvenSentence
from holdfast.planning.reports.loop_report import loop_report

SAID = "The barrier is late. The other one is ordered."


def evidence(number: int, quote: str) -> StoredEvidence:
    start = SAID.index(quote)
    return StoredEvidence(
        id=number,
        task_id="T0",
        entity="proven_sentences",
        source_id=1,
        address="minutes.md",
        title="Minutes",
        source_text=SAID,
        source_start=0,
        start=start,
        end=start + len(quote),
        quote=quote,
        sha256="0" * 64,
        fetched_at="2026-11-27T00:00:00Z",
    )


@pytest.mark.conformance("LOOP-03", "REP-02")
@pytest.mark.parametrize(
    ("answer", "marks"),
    [
        ("late", ()),
        ("One barrier at the transformer house is late, and the other one is ordered.", (1, 2)),
    ],
)
def test_a_sentence_as_the_answer_has_the_marks_of_its_findings(
    answer: str, marks: tuple[int, ...]
) -> None:
    found = [evidence(1, "The barrier is late."), evidence(2, "The other one is ordered.")]
    sentences = tuple(
        ProvenSentence(text=each.quote, quotes=(), evidence_ids=(each.id,), strength="stated")
        for each in found
    )
    result = LoopResult(short=answer, follows=True, sentences=sentences, confidence=0.9)

    report = loop_report("What of the barriers?", result, found, ())

    assert report.answer == answer
    assert report.summary[0].marks == marks
