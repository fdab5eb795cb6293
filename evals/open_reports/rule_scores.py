"""Score a report by rules alone: no model is asked."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from holdfast.models.evidence.evidence import Report, ReportStatement, StoredEvidence
from holdfast.models.frozen_model import Frozen
from holdfast.planning.reports.sentence_support import unsupported_parts


class RuleScores(Frozen):
    """What rules can tell of one report; counts, so that reports can be added up."""

    sentences: int
    cited_sentences: int
    citations: int
    opened: int
    """Citations whose passage is stored."""
    verbatim: int
    """Citations whose quote stands in that passage letter by letter, at its place."""
    supported: int
    """Cited sentences each of whose numbers and names is in a cited passage or the question."""
    sources: int
    """Different documents a cited sentence, added up."""
    blocked: int = 0
    """Citations of addresses that the question forbids."""


class CitedClaim(NamedTuple):
    """A sentence of a report with what it cites."""

    text: str
    quotes: tuple[str, ...]
    passages: tuple[str, ...]
    addresses: frozenset[str]


def cited_claims(report: Report, evidence: Sequence[StoredEvidence]) -> list[CitedClaim]:
    """Every sentence of the report that cites something that is stored."""
    stored = {each.id: each for each in evidence}
    by_mark = {each.mark: each for each in report.citations}
    found = []
    for sentence in _sentences(report):
        cited = [by_mark[mark] for mark in sentence.marks if mark in by_mark]
        kept = [each for each in cited if each.evidence_id in stored]
        if kept:
            passages = (stored[each.evidence_id] for each in kept)
            found.append(
                CitedClaim(
                    sentence.text,
                    tuple(each.quote for each in kept),
                    tuple(f"{each.title}\n{each.source_text}" for each in passages),
                    frozenset(each.address for each in kept),
                )
            )
    return found


def score_by_rules(
    report: Report, evidence: Sequence[StoredEvidence], blocked: Sequence[str] = ()
) -> RuleScores:
    """The counts of a report over the evidence that is stored of its job."""
    stored: Mapping[int, StoredEvidence] = {each.id: each for each in evidence}
    claims = cited_claims(report, evidence)
    opened = [each for each in report.citations if each.evidence_id in stored]
    verbatim = [
        each
        for each in opened
        if stored[each.evidence_id].resolves and stored[each.evidence_id].quote == each.quote
    ]
    supported = [
        each
        for each in claims
        if not unsupported_parts(
            each.text, each.passages, [report.question], quotes_shown=each.quotes
        )
    ]
    return RuleScores(
        sentences=len(_sentences(report)),
        cited_sentences=len(claims),
        citations=len(report.citations),
        opened=len(opened),
        verbatim=len(verbatim),
        supported=len(supported),
        sources=sum(len(each.addresses) for each in claims),
        blocked=sum(each.address in set(blocked) for each in report.citations),
    )


def _sentences(report: Report) -> tuple[ReportStatement, ...]:
    """Each sentence once; the report repeats its answer among the findings."""
    return tuple({each.text: each for each in reversed(report.sentences)}.values())[::-1]
