"""Lay out the first lines of a report: the short answer with its marks, and how sure it is."""

from collections.abc import Sequence
from typing import NamedTuple

from holdfast.models.evidence.evidence import Report, ReportConclusion, ReportStatement
from holdfast.models.text.value_text import stored_text_in_words
from holdfast.models.text.words import words_of
from holdfast.reports.evidence_table import confidence_line

_SHORTEST_WORD = 3
_FEW_FINDINGS = 3
"""A reader of so few findings sees their quotes too, so a summary of the quotes adds nothing."""
_JOINING_WORDS = frozenset(("and", "for", "from", "its", "than", "that", "the", "which", "with"))
"""Words of some length that say nothing by themselves."""
_LONGEST_LABEL = 3
"""Words before a colon that are a label of the answer; more of them say something."""


class ShortAnswer(NamedTuple):
    """The short answer, and the sentences that say more than the answer."""

    answer: ReportStatement | None
    confidence: str
    """The answer's confidence and its limits, in words; empty if unknown."""
    summary: tuple[ReportStatement, ...]
    conclusions: tuple[ReportConclusion, ...]


def short_answer(report: Report) -> ShortAnswer:
    """Return the short answer; sentences that only repeat it give it their marks and limits."""
    answer = stored_text_in_words(report.answer or "")
    if not answer.strip():
        return ShortAnswer(None, "", report.summary, report.conclusions)
    repeated = [each for each in report.summary if _repeats(each, answer)]
    concluded = [each for each in report.conclusions if _repeats(each, answer)]
    marks = dict.fromkeys(mark for each in (*repeated, *concluded) for mark in each.marks)
    told = [each for each in report.summary if each not in repeated]
    limits = dict.fromkeys(each.limits for each in concluded if each.limits)
    return ShortAnswer(
        ReportStatement(text=answer, marks=tuple(marks)),
        " ".join(line for line in (confidence_line(report), *limits) if line),
        () if _is_told_by_findings(told, answer, report) else tuple(told),
        tuple(each for each in report.conclusions if each not in concluded),
    )


def _is_told_by_findings(summary: Sequence[ReportStatement], answer: str, report: Report) -> bool:
    """True if no sentence of the summary has a word or a mark that the findings do not have.

    The summary is shown as a whole or not at all: a paragraph without some of its sentences reads
    badly. Where the findings are few, the words of their quotes count as well.
    """
    marks = {mark for each in report.findings for mark in each.marks}
    texts = [report.question, answer, *(each.text for each in report.findings)]
    if len(report.findings) <= _FEW_FINDINGS:
        texts += [each.quote for each in report.citations if each.mark in marks]
    said = words_of(" ".join(texts)) | _JOINING_WORDS
    return bool(report.findings) and all(
        _telling_words(each.text) <= said and marks.issuperset(each.marks) for each in summary
    )


def _telling_words(text: str) -> frozenset[str]:
    """The words of some length, every number, and `no`, which turns what is said round."""
    short = (word for word in words_of(text) if word == "no" or not word.isalpha())
    return words_of(text, _SHORTEST_WORD).union(short)


def _repeats(statement: ReportStatement, answer: str) -> bool:
    """True if the statement says the answer and no more, after a label at most."""
    said, asked = _bare(statement.text), _bare(answer)
    label, _, rest = said.rpartition(": ")
    return said == asked or (rest == asked and len(label.split()) <= _LONGEST_LABEL)


def _bare(text: str) -> str:
    return " ".join(text.split()).casefold().rstrip(" .")
