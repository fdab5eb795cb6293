"""Build the receipt of a stored plan change: what the workflow learns of it."""

from collections.abc import Iterable, Sequence

from holdfast.activities.runtime.pending_task_states import fit_tasks_to_page, pending_state
from holdfast.models.jobs.job_state import PlanReceipt, TaskState
from holdfast.models.plans.plan_change import PlanChange
from holdfast.models.questions.user_questions import OpenQuestion
from holdfast.models.tasks.stored_task import StoredTask


def plan_receipt(
    number: int,
    change: PlanChange,
    before: Sequence[StoredTask] = (),
    *,
    root: str = "",
    reopened: Iterable[StoredTask] = (),
    questions: tuple[OpenQuestion, ...] = (),
    tokens: int = 0,
) -> PlanReceipt:
    """Return the receipt of change `number`.

    `before` are the tasks before the change; only the changed tasks are needed. `root` is the
    lineage that the added tasks continue; each begins its own if `root` is empty. `reopened` are
    cancelled tasks that wait again.
    """
    states = added_states(change, root=root)
    added = fit_tasks_to_page(states)
    waiting = (pending_state(each.task, each.root, each.attempt) for each in reopened)
    return PlanReceipt(
        change_number=number,
        added=added,
        is_partial=len(added) < len(states),
        superseded=change.superseded,
        changed=(*_changed_states(change, before), *waiting),
        questions=questions,
        tokens=tokens,
    )


def added_states(change: PlanChange, *, root: str = "", attempt: int = 1) -> list[TaskState]:
    """The states of the added tasks, in order of the plan."""
    return [pending_state(task, root or task.id, attempt) for task in change.added]


def _changed_states(change: PlanChange, before: Sequence[StoredTask]) -> list[TaskState]:
    stored = {each.task.id: each for each in before}
    retried = {each.task for each in change.changed if each.field == "attempt"}
    return [
        pending_state(
            stored[name].task.with_fields(change.new_values.get(name, {})),
            stored[name].root,
            stored[name].attempt + (1 if name in retried else 0),
        )
        for name in change.changed_ids
    ]
