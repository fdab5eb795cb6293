"""Tests for the receipt of a stored plan change."""

from holdfast.activities.runtime.pending_task_states import PAGE_BYTES
from holdfast.activities.runtime.plan_receipts import plan_receipt
from holdfast.models.plans.plan_change import FieldChange, PlanChange
from holdfast.models.plans.plan_change_cause import PlanChangeCause
from holdfast.models.plans.research_plan import Task, TaskStatus
from holdfast.models.tasks.stored_task import StoredTask
from tests.support.jobs.plan_builders import agent_task, lookup_task


def stored(task: Task, *, attempt: int = 1, root: str = "") -> StoredTask:
    return StoredTask(
        task=task, position=1, attempt=attempt, root=root or task.id, added_by_change=1
    )


def test_a_receipt_that_cannot_hold_every_added_task_is_partial() -> None:
    many = tuple(lookup_task(f"T{n}") for n in range(PAGE_BYTES // 50))
    change = PlanChange(cause=PlanChangeCause.REVISED, added=many)

    receipt = plan_receipt(2, change)

    assert receipt.is_partial
    assert 0 < len(receipt.added) < len(many)


def test_added_tasks_continue_the_lineage_of_the_failed_task() -> None:
    change = PlanChange(cause=PlanChangeCause.REPLANNED, added=(lookup_task("T2b"),))

    (state,) = plan_receipt(3, change, root="T2").added

    assert (state.id, state.root, state.status) == ("T2b", "T2", TaskStatus.PENDING)


def test_a_changed_task_keeps_its_attempt_and_lineage() -> None:
    before = stored(agent_task("T2a", "T1"), attempt=3, root="T2")
    field = FieldChange(task="T2a", field="depends_on", old=["T1"], new=[])
    change = PlanChange(cause=PlanChangeCause.REVISED, changed=(field,))

    (state,) = plan_receipt(2, change, [before]).changed

    assert (state.depends_on, state.attempt, state.root) == ((), 3, "T2")


def test_a_retried_task_waits_for_its_next_attempt() -> None:
    before = stored(agent_task("T1", status=TaskStatus.DONE), attempt=1)
    waiting = stored(agent_task("T2", "T1", status=TaskStatus.CANCELLED))
    field = FieldChange(task="T1", field="attempt", old=1, new=2)
    change = PlanChange(cause=PlanChangeCause.GAPS, changed=(field,))

    receipt = plan_receipt(2, change, [before], reopened=[waiting])

    assert [(each.id, each.status, each.attempt) for each in receipt.changed] == [
        ("T1", TaskStatus.PENDING, 2),
        ("T2", TaskStatus.PENDING, 1),
    ]
