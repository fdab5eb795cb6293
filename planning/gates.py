"""The gates before delivery: each is closed unless it is proven open.

Pure, so that a stored report's verdicts can be had again from what is stored.
"""

from collections.abc import Iterable, Sequence

from models.base import Frozen
from models.evidence import Gate, Report, StoredEvidence
from models.plan import Plan, Task, TaskKind, TaskStatus
from models.verification import Contradiction

_GONE = (TaskStatus.SUPERSEDED,)


class GateFacts(Frozen):
    """What PostgreSQL says of the job: what the gates look at besides the report."""

    open_questions: tuple[int, ...] = ()
    unrecorded: tuple[str, ...] = ()
    """Calls that left and have no outcome, such as `extractor of T2`."""
    contradictions: tuple[Contradiction, ...] = ()


def gates_of_job(facts: GateFacts, found: Iterable[StoredEvidence]) -> tuple[Gate, ...]:
    """The gates that no report can open: without these none needs to be written."""
    return (_questions(facts), _spend(facts), _evidence(found))


def gates_of_report(
    plan: Plan, facts: GateFacts, report: Report, found: Iterable[StoredEvidence]
) -> tuple[Gate, ...]:
    """Every gate before this report is delivered; `found` is the evidence that is active now."""
    by_id = {item.id: item for item in found}
    return (
        _tasks(plan, report),
        _questions(facts),
        _contradictions(facts, report),
        _citations(report, by_id),
        _spend(facts),
    )


def closed(gates: Iterable[Gate]) -> tuple[Gate, ...]:
    """Those that keep the report from being delivered."""
    return tuple(gate for gate in gates if not gate.is_open)


def _gate(name: str, faults: Sequence[str], otherwise: str) -> Gate:
    seen = "; ".join(faults[:5]) + (f" and {len(faults) - 5} more" if len(faults) > 5 else "")
    return Gate(name=name, is_open=not faults, seen=seen or otherwise)


def _tasks(plan: Plan, report: Report) -> Gate:
    wanted = [task for task in plan.tasks if not task.parent and task.status not in _GONE]
    faults = [
        f"{task.id} is {task.status.value} and no gap names it"
        for task in wanted
        if task.status is not TaskStatus.DONE and not _is_named(task, report)
    ]
    done = sum(task.status is TaskStatus.DONE for task in wanted)
    return _gate("tasks", faults, f"{done} of {len(wanted)} done, the others named as gaps")


def _is_named(task: Task, report: Report) -> bool:
    if task.status is TaskStatus.RUNNING and task.kind is not TaskKind.AGENT:
        return False
    if any(gap.startswith(f"{task.id}:") for gap in report.gaps):
        return True
    return task.is_final and report.answer is None


def _questions(facts: GateFacts) -> Gate:
    faults = [f"question {number} is open" for number in facts.open_questions]
    return _gate("questions", faults, "none is open")


def _contradictions(facts: GateFacts, report: Report) -> Gate:
    shown = {(each.one.text, each.other.text) for each in report.contradictions}
    unsettled = [each for each in facts.contradictions if not each.settled_by]
    faults = [
        f"{each.one[:60]!r} against {each.other[:60]!r} is neither settled nor shown"
        for each in unsettled
        if (each.one, each.other) not in shown
    ]
    settled = len(facts.contradictions) - len(unsettled)
    return _gate("contradictions", faults, f"{settled} settled, {len(unsettled)} shown")


def _citations(report: Report, found: dict[int, StoredEvidence]) -> Gate:
    marks = {citation.mark for citation in report.citations}
    faults = [
        f"mark {mark} leads nowhere"
        for sentence in report.sentences
        for mark in sentence.marks
        if mark not in marks
    ]
    for citation in report.citations:
        item = found.get(citation.evidence_id)
        if item is None:
            faults.append(f"evidence {citation.evidence_id} of mark {citation.mark} is not active")
        elif not item.resolves or item.quote != citation.quote or not citation.address:
            faults.append(f"mark {citation.mark} does not resolve in {citation.address!r}")
    return _gate("citations", faults, f"{len(marks)} resolve")


def _evidence(found: Iterable[StoredEvidence]) -> Gate:
    faults = [
        f"{item.address} for {item.task_id}.{item.entity}" for item in found if not item.resolves
    ]
    return _gate("evidence", faults, "all of it resolves")


def _spend(facts: GateFacts) -> Gate:
    faults = [f"the call of {call} has no outcome" for call in facts.unrecorded]
    return _gate("spend", faults, "every call has its outcome")
