"""Lay out the proof of a report as a table: step, finding, quotes, sources, strength.

A report has the table if a judge said of each of several findings how strongly its quotes show it.
Then the table has the quotes, and the list of sources only says where they stand.
"""

from typing import NamedTuple

from holdfast.models.evidence.evidence import Citation, Report, ReportStatement
from holdfast.reports.source_list import source_name
from holdfast.reports.usual_level import usual_level

_STRENGTH_WORDS = {"implied": "implied, not stated", "weak": "a weak link"}

LOW_CONFIDENCE = 0.7
"""Below it, a reader should look at the quotes first."""


class EvidenceRow(NamedTuple):
    """A finding with its quotes."""

    step: int
    finding: ReportStatement
    citations: tuple[Citation, ...]
    usual: str = ""
    """The level of most findings, which is said once above the table."""

    @property
    def titles(self) -> tuple[str, ...]:
        """The titles of the cited documents, each once."""
        return tuple(dict.fromkeys(map(source_name, self.citations)))

    @property
    def support(self) -> str:
        """How strongly the quotes show the finding, and the level of its evidence if unusual."""
        level = self.finding.level
        is_named = level is not None and level != self.usual
        return f"{self.finding.strength}; {level}" if is_named else self.finding.strength

    def adds(self, citation: Citation) -> bool:
        """True if the quote is not the finding itself, as with the built-in model."""
        return " ".join(citation.quote.split()) != " ".join(self.finding.text.strip("“”").split())


def evidence_rows(report: Report) -> tuple[EvidenceRow, ...]:
    """Return the rows of the table; none for a report without it."""
    if len(report.findings) < 2 or not all(each.strength for each in report.findings):
        return ()
    by_mark = {each.mark: each for each in report.citations}
    usual = usual_level(report.findings).level
    return tuple(
        EvidenceRow(step, finding, tuple(by_mark[mark] for mark in finding.marks), usual)
        for step, finding in enumerate(report.findings, start=1)
    )


def confidence_line(report: Report) -> str:
    """Return the confidence of the answer with the steps that are not stated; empty: unknown."""
    if report.confidence is None:
        return ""
    reasons = [
        f"step {step} is {_STRENGTH_WORDS[each.strength]}"
        for step, each in enumerate(report.findings, start=1)
        if each.strength in _STRENGTH_WORDS
    ]
    because = f" ({'; '.join(reasons)})" if reasons and evidence_rows(report) else ""
    advice = " Read the quotes before you rely on it." if report.confidence < LOW_CONFIDENCE else ""
    return f"Confidence: {report.confidence:.0%}{because}.{advice}"
