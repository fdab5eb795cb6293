"""What filling the gaps changes in the plan: other attempts, new sub-questions, one revision."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from activities.begin import fitted
from activities.gap_drafts import Rules, repair_hint
from activities.rounds import Round
from models.plan import Plan, Task, TaskStatus
from models.revisions import Change
from models.state import PlanReceipt, TaskState
from models.verification import Verification
from planning.graph import dependents, edges
from roles.gap_planner import NewSubQuestion
from storage import gaps, plans
from storage.database import JobWrite
from storage.gaps import Again
from storage.plans import Revision, StoredTask


@dataclass(frozen=True)
class Gaps:
    """What is to be filled after a round."""

    known: Round
    tasks: tuple[StoredTask, ...]
    """All of the job, steps too."""
    verdicts: tuple[Verification, ...]
    incomplete: tuple[str, ...]
    rules: Rules

    @property
    def has_any(self) -> bool:
        return bool(self.incomplete or self.rules.disputes or self.rules.may_add)

    @property
    def by_id(self) -> dict[str, StoredTask]:
        return {each.task.id: each for each in self.tasks}

    def worked(self) -> list[StoredTask]:
        """Those of the incomplete that ran: one that only waits goes on waiting."""
        over = (TaskStatus.DONE, TaskStatus.FAILED)
        by_id = self.by_id
        return [by_id[name] for name in self.incomplete if by_id[name].task.status in over]


async def store_changes(
    write: JobWrite,
    found: Gaps,
    drafts: Sequence[NewSubQuestion],
    again: Sequence[Again],
    explanation: str,
) -> PlanReceipt:
    """Store what is worked again and what is new as one revision; none where there is neither."""
    names = [each.task_id for each in again]
    steps = tuple(
        each.task.id
        for each in found.tasks
        if each.task.parent in names and each.task.status is not TaskStatus.SUPERSEDED
    )
    added = [each.to_task() for each in drafts]
    if not names and not added:
        return PlanReceipt()
    states = [_state(each) for each in found.worked()]
    waiting = _waiting_again(found, names)
    await gaps.work_again(write, again)
    await gaps.wait_again(write, [each.id for each in waiting])
    change = Revision(
        revision=0,
        cause="gaps",
        explanation=explanation,
        added=tuple(task.id for task in added),
        superseded=steps,
        changed=tuple(_attempts(each) for each in found.worked()),
    )
    plan = _plan_after(found, added, steps)
    number = await plans.store_revision(write, plan, change, {each.id: each.id for each in added})
    await gaps.note(write, _notes(found, drafts))
    new = [_new_state(task) for task in added]
    fitting = fitted(new)
    return PlanReceipt(
        revision=number,
        added=fitting,
        is_partial=len(fitting) < len(new),
        superseded=steps,
        changed=(*states, *waiting),
    )


def _attempts(stored: StoredTask) -> Change:
    return Change(task=stored.task.id, field="attempt", old=stored.attempt, new=stored.attempt + 1)


def _plan_after(found: Gaps, added: Sequence[Task], gone: Sequence[str]) -> Plan:
    superseded = {"status": TaskStatus.SUPERSEDED}
    kept = (
        each.task.model_copy(update=superseded) if each.task.id in gone else each.task
        for each in found.tasks
    )
    return Plan(tasks=(*kept, *added))


def _waiting_again(found: Gaps, names: Sequence[str]) -> list[TaskState]:
    """Tasks that were cancelled and need something that is worked again."""
    waits = edges(Plan(tasks=tuple(each.task for each in found.tasks)))
    needing = frozenset[str]().union(*(dependents(waits, name) for name in names))
    return [
        _pending(each.task, each.root, each.attempt)
        for each in found.tasks
        if each.task.id in needing and each.task.status is TaskStatus.CANCELLED
    ]


def _state(stored: StoredTask) -> TaskState:
    return _pending(stored.task, stored.root, stored.attempt + 1)


def _new_state(task: Task) -> TaskState:
    return _pending(task, task.id, 1)


def _pending(task: Task, root: str, attempt: int) -> TaskState:
    return TaskState(
        id=task.id,
        kind=task.kind,
        label=plans.label_of(task),
        depends_on=task.depends_on,
        priority=task.priority,
        attempt=attempt,
        root=root,
        is_final=task.is_final,
        parent=task.parent,
    )


def _notes(found: Gaps, drafts: Sequence[NewSubQuestion]) -> Mapping[str, Mapping[str, JsonValue]]:
    """What the new tasks that settle a contradiction are told, and known by."""
    notes: dict[str, dict[str, JsonValue]] = {}
    for draft in drafts:
        dispute = found.rules.dispute_of(draft)
        if dispute is not None:
            hint = repair_hint(dispute, found.known.findings)
            notes[draft.id] = {"settles": list(dispute.tasks), "hint": hint, "missing": []}
    return notes
