"""Lay out the first lines of a report: the short answer with its marks, and how sure it is."""

from typing import NamedTuple

from holdfast.models.evidence.evidence import Report, ReportConclusion, ReportStatement
from holdfast.models.text.value_text import stored_text_in_words
from holdfast.reports.evidence_table import confidence_line

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
    limits = dict.fromkeys(each.limits for each in concluded if each.limits)
    return ShortAnswer(
        ReportStatement(text=answer, marks=tuple(marks)),
        " ".join(line for line in (confidence_line(report), *limits) if line),
        tuple(each for each in report.summary if each not in repeated),
        tuple(each for each in report.conclusions if each not in concluded),
    )


def _repeats(statement: ReportStatement, answer: str) -> bool:
    """True if the statement says the answer and no more, after a label at most."""
    said, asked = _bare(statement.text), _bare(answer)
    label, _, rest = said.rpartition(": ")
    return said == asked or (rest == asked and len(label.split()) <= _LONGEST_LABEL)


def _bare(text: str) -> str:
    return " ".join(text.split()).casefold().rstrip(" .")
