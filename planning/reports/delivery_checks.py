"""Check a report before delivery: each check fails unless its condition is proven.

Pure, so that the checks of a stored report can be repeated from the stored data.
"""

from collections.abc import Iterable, Sequence

from holdfast.models.evidence.evidence import DeliveryCheck, Report, StoredEvidence
from holdfast.models.frozen_model import Frozen
from holdfast.models.plans.research_plan import Plan, Task, TaskKind, TaskStatus
from holdfast.models.verification.verification_verdicts import Contradiction
from holdfast.planning.reports.report_gaps import unfinished_gap


class DeliveryFacts(Frozen):
    """The data of the job in PostgreSQL that the checks read besides the report."""

    open_questions: tuple[int, ...] = ()
    calls_without_outcome: tuple[str, ...] = ()
    """Calls that were sent and have no outcome, such as `extractor of T2`."""
    contradictions: tuple[Contradiction, ...] = ()


def job_delivery_checks(
    facts: DeliveryFacts, evidence: Iterable[StoredEvidence]
) -> tuple[DeliveryCheck, ...]:
    """The checks that no report can change; if one fails, no report needs to be written."""
    return (_check_questions(facts), _check_call_outcomes(facts), _check_evidence(evidence))


def report_delivery_checks(
    plan: Plan, facts: DeliveryFacts, report: Report, evidence: Iterable[StoredEvidence]
) -> tuple[DeliveryCheck, ...]:
    """All checks of this report before its delivery; `evidence` is the evidence active now."""
    by_id = {item.id: item for item in evidence}
    return (
        _check_tasks(plan, report),
        _check_questions(facts),
        _check_contradictions(facts, report),
        _check_citations(report, by_id),
        _check_call_outcomes(facts),
    )


def failed_checks(checks: Iterable[DeliveryCheck]) -> tuple[DeliveryCheck, ...]:
    """The failed checks: each prevents the delivery of the report."""
    return tuple(check for check in checks if not check.has_passed)


def _delivery_check(name: str, faults: Sequence[str], passed: str) -> DeliveryCheck:
    reasons = "; ".join(faults[:5]) + (f" and {len(faults) - 5} more" if len(faults) > 5 else "")
    return DeliveryCheck(name=name, has_passed=not faults, detail=reasons or passed)


def _check_tasks(plan: Plan, report: Report) -> DeliveryCheck:
    tasks = [task for task in plan.reported_tasks if task.status is not TaskStatus.SUPERSEDED]
    faults = [
        f"{task.id} is {task.status.value} and no gap names it"
        for task in tasks
        if task.status is not TaskStatus.DONE and not _is_named(task, report)
    ]
    done = sum(task.status is TaskStatus.DONE for task in tasks)
    others = "" if done == len(tasks) else "; the report names the others as gaps"
    return _delivery_check("tasks", faults, f"{done} of {len(tasks)} done{others}")


def _is_named(task: Task, report: Report) -> bool:
    if task.status is TaskStatus.RUNNING and task.kind is not TaskKind.AGENT:
        return False
    if unfinished_gap(task) in report.gaps:
        return True
    return task.is_final and report.answer is None


def _check_questions(facts: DeliveryFacts) -> DeliveryCheck:
    faults = [f"question {number} is open" for number in facts.open_questions]
    return _delivery_check("questions", faults, "none")


def _check_contradictions(facts: DeliveryFacts, report: Report) -> DeliveryCheck:
    shown = {(each.one.text, each.other.text) for each in report.contradictions}
    unsettled = [each for each in facts.contradictions if not each.settled_by]
    faults = [
        f"{each.one[:60]!r} against {each.other[:60]!r} is neither settled nor shown"
        for each in unsettled
        if (each.one, each.other) not in shown
    ]
    settled = len(facts.contradictions) - len(unsettled)
    counts = f"{settled} settled, {len(unsettled)} shown" if facts.contradictions else "none found"
    return _delivery_check("contradictions", faults, counts)


def _check_citations(report: Report, evidence: dict[int, StoredEvidence]) -> DeliveryCheck:
    marks = {citation.mark for citation in report.citations}
    faults = [
        f"mark {mark} has no citation"
        for sentence in report.sentences
        for mark in sentence.marks
        if mark not in marks
    ]
    for citation in report.citations:
        item = evidence.get(citation.evidence_id)
        if item is None:
            faults.append(f"evidence {citation.evidence_id} of mark {citation.mark} is not active")
        elif not item.resolves or item.quote != citation.quote or not citation.address:
            faults.append(f"mark {citation.mark} does not resolve in {citation.address!r}")
    return _delivery_check("citations", faults, _quotes_found(len(marks)))


def _quotes_found(number: int) -> str:
    match number:
        case 0:
            return "none"
        case 1:
            return "the quote was found in its source"
        case 2:
            return "both quotes found in their sources"
        case _:
            return f"all {number} quotes found in their sources"


def _check_evidence(evidence: Iterable[StoredEvidence]) -> DeliveryCheck:
    faults = [
        f"the quote for {item.task_id}.{item.entity} does not resolve in {item.address}"
        for item in evidence
        if not item.resolves
    ]
    return _delivery_check("evidence", faults, "every quote was found in its source")


def _check_call_outcomes(facts: DeliveryFacts) -> DeliveryCheck:
    faults = [f"the call of {call} has no outcome" for call in facts.calls_without_outcome]
    return _delivery_check("spend", faults, "every call is accounted for")
