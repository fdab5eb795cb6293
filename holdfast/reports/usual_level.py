"""Say once how most findings of a report are supported, rather than after each of them."""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from holdfast.models.evidence.evidence import EvidenceLevel, ReportStatement
from holdfast.reports.report_text import level_text

_SUPPORTED_BY = {
    EvidenceLevel.SINGLE_SOURCE: "has a single source",
    EvidenceLevel.CORROBORATED: "is corroborated by several documents",
    EvidenceLevel.PRIMARY: "has a primary source",
}


class UsualLevel(NamedTuple):
    """The level of evidence that is not named after a finding, and the line that says so."""

    level: str = ""
    line: str = ""

    def unlike(self, finding: ReportStatement) -> str:
        """The level of the finding if it differs from the usual one; empty if the line says it."""
        level = level_text(finding)
        return "" if level == self.level else level


def answer_level_line(findings: Sequence[ReportStatement]) -> str:
    """How an answer is supported that tells these findings; empty if they have several levels."""
    levels = {each.level for each in findings}
    words = next((_SUPPORTED_BY[each] for each in _SUPPORTED_BY if levels == {each}), None)
    subject = "The answer" if len(findings) == 1 else "Each part of the answer"
    return f"{subject} {words}." if words else ""


def usual_level(findings: Sequence[ReportStatement]) -> UsualLevel:
    """The level of more than half of the findings; empty if there is none, or one finding.

    It is also empty if a finding has no level: nothing after that finding would say so.
    """
    counts = Counter(each.level for each in findings)
    level = next((each for each in _SUPPORTED_BY if 2 * counts[each] > len(findings)), None)
    if level is None or len(findings) == 1 or not all(map(level_text, findings)):
        return UsualLevel()
    others = "" if counts[level] == len(findings) else ", unless it says otherwise"
    return UsualLevel(str(level), f"Each finding {_SUPPORTED_BY[level]}{others}.")
