"""Find what is wrong with the statements and citations of a report's draft."""

from collections.abc import Iterable

from holdfast.models.reports.report_writer_messages import (
    LEAST_FINDINGS,
    MOST_FINDINGS,
    Statement,
    SynthesiserAnswer,
    SynthesiserTask,
)


def statement_faults(answer: SynthesiserAnswer, task: SynthesiserTask) -> list[str]:
    """The faults of the statements: unknown ids, or claims without evidence."""
    known = {item.id for item in task.evidence}
    if not answer.summary:
        return ["`summary` has no statement"]
    must_cite = [("finding", each) for each in answer.findings]
    must_cite += [("conclusion", each) for each in answer.conclusions]
    faults = [*unknown_id_faults((*answer.summary, *answer.analysis), known)]
    faults += unknown_id_faults((each for _, each in must_cite), known)
    if known and task.answer is not None and not any(each.evidence for each in answer.summary):
        faults.append("no statement of `summary` cites evidence")
    faults += [
        f"the {what} {statement.text[:60]!r} cites no evidence"
        for what, statement in must_cite
        if known and not statement.evidence
    ]
    return [*faults, *_count_faults(answer, len(known)), *_conclusion_faults(answer, task)]


def unknown_id_faults(statements: Iterable[Statement], known: set[str]) -> list[str]:
    """The cited ids that are not among the evidence."""
    return [
        f"the statement {statement.text[:60]!r} cites {name!r}, which is not among the evidence"
        for statement in statements
        for name in statement.evidence
        if name not in known
    ]


def _count_faults(answer: SynthesiserAnswer, evidence: int) -> list[str]:
    count = len(answer.findings)
    if count > MOST_FINDINGS:
        return [f"there are {count} findings; keep the {MOST_FINDINGS} most important ones"]
    if 0 < count < LEAST_FINDINGS <= evidence // 2:
        return [f"there are {count} findings; the evidence carries at least {LEAST_FINDINGS}"]
    return []


def _conclusion_faults(answer: SynthesiserAnswer, task: SynthesiserTask) -> list[str]:
    if not task.concludes or answer.conclusion not in (None, "") or answer.gaps:
        return []
    return ["`conclusion` is empty: give the short answer, or name the gap in `gaps`"]
