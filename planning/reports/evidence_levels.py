"""Say of each sentence of a report what its evidence is: nothing, one source, several, primary."""

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from itertools import combinations
from typing import TypeVar

from holdfast.models.evidence.evidence import Citation, EvidenceLevel, Report, ReportStatement

StatementT = TypeVar("StatementT", bound=ReportStatement)


def with_evidence_levels(report: Report, primary_sources: Sequence[str]) -> Report:
    """Return the report with the level of each sentence.

    `primary_sources` are patterns of addresses, such as `contracts/*`.
    """
    by_mark = {each.mark: each for each in report.citations}

    def leveled(statement: StatementT) -> StatementT:
        cited = [by_mark[mark] for mark in statement.marks if mark in by_mark]
        return statement.model_copy(update={"level": evidence_level(cited, primary_sources)})

    sides = (
        each.model_copy(update={"one": leveled(each.one), "other": leveled(each.other)})
        for each in report.contradictions
    )
    return report.model_copy(
        update={
            "summary": tuple(map(leveled, report.summary)),
            "findings": tuple(map(leveled, report.findings)),
            "analysis": tuple(map(leveled, report.analysis)),
            "conclusions": tuple(map(leveled, report.conclusions)),
            "contradictions": tuple(sides),
        }
    )


def evidence_level(citations: Iterable[Citation], primary_sources: Sequence[str]) -> EvidenceLevel:
    """Return the level of a sentence with these citations.

    A copy of a passage under another address corroborates nothing: two of the passages must differ
    in their address and in their text.
    """
    cited = tuple(citations)
    if not cited:
        return EvidenceLevel.NONE
    for each in cited:
        if any(fnmatchcase(each.address, pattern) for pattern in primary_sources):
            return EvidenceLevel.PRIMARY
    is_corroborated = any(_are_two_documents(*pair) for pair in combinations(cited, 2))
    return EvidenceLevel.CORROBORATED if is_corroborated else EvidenceLevel.SINGLE_SOURCE


def _are_two_documents(one: Citation, other: Citation) -> bool:
    return one.address != other.address and one.sha256 != other.sha256
