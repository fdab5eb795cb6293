"""Lay out the first lines of a report: the short answer with its marks, and how sure it is.

What repeats the answer is left out below it, so that no fact stands three times.
"""

from collections.abc import Iterable
from typing import NamedTuple

from holdfast.models.evidence.evidence import Report, ReportConclusion, ReportStatement
from holdfast.models.text.value_text import stored_text_in_words
from holdfast.reports.evidence_table import confidence_line, evidence_rows
from holdfast.reports.told_sentences import Told, are_told_by_answer, turns
from holdfast.reports.usual_level import answer_level_line

_LONGEST_LABEL = 3
"""Words before a colon that are a label of the answer; more of them say something."""


class ShortAnswer(NamedTuple):
    """The short answer, and the sentences that say more than the answer."""

    answer: ReportStatement | None
    confidence: str
    """The answer's confidence, limits and the level of its evidence, in words; empty if unknown."""
    summary: tuple[ReportStatement, ...]
    findings: tuple[ReportStatement, ...]
    analysis: tuple[ReportStatement, ...]
    conclusions: tuple[ReportConclusion, ...]


def short_answer(report: Report) -> ShortAnswer:
    """Return the short answer; sentences that only repeat it give it their marks and limits.

    Summary, findings and analysis are shown as a whole or not at all: a paragraph without some of
    its sentences reads badly.
    """
    answer = stored_text_in_words(report.answer or "")
    if not answer.strip():
        return ShortAnswer(
            None, "", report.summary, report.findings, report.analysis, report.conclusions
        )
    told = Told.by_findings(report, answer)
    findings = () if _has_told_findings(report, answer) else report.findings
    repeated = [each for each in report.summary if _repeats(each, answer)]
    doubts = [each for each in report.conclusions if _is_less_sure(each, report)]
    concluded = [
        each
        for each in report.conclusions
        if _repeats(each, answer) and (each.confidence is None or each not in doubts)
    ]
    if report.findings:
        others = [each for each in report.conclusions if each not in (*concluded, *doubts)]
        concluded += [each for each in others if told.tells([each])]
    summary = tuple(each for each in report.summary if each not in repeated)
    of_answer = (*repeated, *concluded, *(() if findings else report.findings))
    limits = dict.fromkeys(each.limits for each in concluded if each.limits)
    level = "" if findings else answer_level_line(report.findings)
    return ShortAnswer(
        ReportStatement(text=answer, marks=_marks(of_answer)),
        " ".join(line for line in (confidence_line(report), level, *limits) if line),
        () if report.findings and told.tells(summary) else summary,
        findings,
        () if report.findings and told.tells(report.analysis) else report.analysis,
        tuple(each for each in report.conclusions if each not in concluded),
    )


def _has_told_findings(report: Report, answer: str) -> bool:
    """True if the answer says what all findings say: the sources prove it without them.

    Findings of several levels are shown: one line below the answer could not name them.
    """
    is_table = bool(evidence_rows(report))
    has_one_level = len({each.level for each in report.findings}) == 1
    told = are_told_by_answer(report.findings, report.question, answer)
    return has_one_level and told and not is_table


def _is_less_sure(conclusion: ReportConclusion, report: Report) -> bool:
    """True if the conclusion doubts more than the answer, or may: the reader must see that."""
    sure, own = report.confidence, conclusion.confidence
    return sure != own and (sure is None or own is None or own < sure)


def _marks(statements: Iterable[ReportStatement]) -> tuple[int, ...]:
    return tuple(dict.fromkeys(mark for each in statements for mark in each.marks))


def _repeats(statement: ReportStatement, answer: str) -> bool:
    """True if the statement says the answer and no more, after a label at most."""
    said, asked = _bare(statement.text), _bare(answer)
    label, _, rest = said.rpartition(": ")
    is_label = len(label.split()) <= _LONGEST_LABEL and not turns(label)
    return said == asked or (rest == asked and is_label)


def _bare(text: str) -> str:
    return " ".join(text.split()).casefold().rstrip(" .")
