"""Make the report of a job that one cited loop answered: its sentences are the report.

No model writes it again: each sentence was proven when the loop answered.
"""

from collections.abc import Sequence

from holdfast.models.evidence.evidence import (
    CheckSummary,
    Report,
    ReportStatement,
    StoredEvidence,
)
from holdfast.models.loop.loop_results import LoopResult, ProvenSentence
from holdfast.models.text.report_marks import without_marks
from holdfast.planning.reports.answer_route import LONGEST_SHORT_ANSWER
from holdfast.planning.reports.citation_marks import CitationMarks
from holdfast.planning.reports.not_found_text import NOT_FOUND


def loop_report(
    question: str, result: LoopResult, found: Sequence[StoredEvidence], gaps: Sequence[str]
) -> Report:
    """Return the report: the short answer, the proven sentences, and what is not stated.

    A sentence whose evidence was retracted since is left out, and named as a gap. An answer that
    its sentences do not give is named as possible, apart from the answer. An answer with a weak
    link is given with its low confidence.
    """
    marks = CitationMarks(found)
    active = {item.id: item for item in found}
    kept = [each for each in result.sentences if set(each.evidence_ids) <= set(active)]
    findings = tuple(_finding(each, active, marks) for each in kept)
    is_whole = len(kept) == len(result.sentences)
    is_shown = bool(result.short) and result.follows and bool(kept) and is_whole
    answer = without_marks(result.short) if is_shown else None
    return Report(
        question=question,
        answer=answer,
        summary=(ReportStatement(text=answer or NOT_FOUND, marks=_answer_marks(answer, findings)),),
        findings=findings,
        gaps=tuple(dict.fromkeys((*gaps, *_gaps(result, answer)))),
        citations=marks.citations,
        confidence=result.confidence if answer else None,
        check_summary=CheckSummary(
            checked=len(result.sentences) + len(result.dropped),
            judged=len(result.sentences) if result.judged_by else 0,
            kept=len(kept),
            dropped=len(result.dropped) + len(result.sentences) - len(kept),
            checked_by=result.judged_by,
        ),
    )


def _answer_marks(answer: str | None, findings: Sequence[ReportStatement]) -> tuple[int, ...]:
    """The marks of all findings, if the answer is a sentence: it says what they say."""
    if answer is None or len(answer.split()) <= LONGEST_SHORT_ANSWER:
        return ()
    return tuple(sorted({mark for each in findings for mark in each.marks}))


def _finding(
    sentence: ProvenSentence, active: dict[int, StoredEvidence], marks: CitationMarks
) -> ReportStatement:
    items = [active[number] for number in dict.fromkeys(sentence.evidence_ids)]
    statement = marks.of(sentence.text, items)
    return statement.model_copy(update={"strength": sentence.strength.value})


def _gaps(result: LoopResult, answer: str | None) -> list[str]:
    gaps = [without_marks(line) for line in result.open]
    if result.short and answer is None:
        how = "not shown by" if not result.follows or not result.sentences else "not sure from"
        gaps.append(f"Possible, but {how} the sources: {without_marks(result.short)}")
    gaps += [
        f"Left out, because its quotes do not show it: {without_marks(each.text)}"
        for each in result.dropped
    ]
    return gaps
