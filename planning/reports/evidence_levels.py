"""Say of each sentence of a report what its evidence is: nothing, one source, several, primary."""

import re
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from itertools import combinations
from typing import TypeVar

from holdfast.models.evidence.evidence import Citation, EvidenceLevel, Report, ReportStatement
from holdfast.planning.reports.number_spellings import numbers_in, unknown_numbers

_WORD = re.compile(r"[^\W\d_]{4,}")
StatementT = TypeVar("StatementT", bound=ReportStatement)


def with_evidence_levels(report: Report, primary_sources: Sequence[str]) -> Report:
    """Return the report with the level of each sentence.

    `primary_sources` are patterns of addresses, such as `contracts/*`.
    """
    by_mark = {each.mark: each for each in report.citations}

    def leveled(statement: StatementT) -> StatementT:
        cited = [by_mark[mark] for mark in statement.marks if mark in by_mark]
        level = evidence_level(statement.text, cited, primary_sources)
        return statement.model_copy(update={"level": level})

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


def evidence_level(
    sentence: str, citations: Iterable[Citation], primary_sources: Sequence[str]
) -> EvidenceLevel:
    """Return the level of a sentence with these citations.

    A copy of a passage under another address corroborates nothing: two of the passages must differ
    in their address and in their text. Nor do two documents that each show another part of the
    sentence: both must say the same of it.
    """
    cited = tuple(citations)
    if not cited:
        return EvidenceLevel.NONE
    for each in cited:
        if any(fnmatchcase(each.address, pattern) for pattern in primary_sources):
            return EvidenceLevel.PRIMARY
    quoted: dict[str, str] = {}
    for each in cited:
        quoted[each.address] = f"{quoted.get(each.address, '')}\n{each.quote}"
    is_corroborated = any(
        _are_two_documents(one, other)
        and _say_the_same(sentence, quoted[one.address], quoted[other.address])
        for one, other in combinations(cited, 2)
    )
    return EvidenceLevel.CORROBORATED if is_corroborated else EvidenceLevel.SINGLE_SOURCE


def _are_two_documents(one: Citation, other: Citation) -> bool:
    return one.address != other.address and one.sha256 != other.sha256


def _say_the_same(sentence: str, one: str, other: str) -> bool:
    """True if both texts have half of the sentence's numbers, or, without any, of its words."""
    said = frozenset(unknown_numbers(sentence, frozenset()))
    if said:
        both = said & numbers_in(one) & numbers_in(other)
    else:
        said = _words(sentence)
        both = said & _words(one) & _words(other)
    return len(both) * 2 >= max(len(said), 1)


def _words(text: str) -> frozenset[str]:
    return frozenset(word.casefold() for word in _WORD.findall(text))
