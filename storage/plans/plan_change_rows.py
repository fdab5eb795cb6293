"""Store plan changes with their cause, and list the changes of a job's plan."""

from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import JsonValue
from sqlalchemy import delete, func, insert, select, update

from holdfast.models.plans.plan_change import PlanChange
from holdfast.models.plans.research_plan import Plan, Task, TaskStatus
from holdfast.models.plans.stored_plan_change import StoredPlanChange
from holdfast.models.wire import stored_keys
from holdfast.models.wire.event_kinds import EventKind
from holdfast.planning.plans.plan_graph import PlanExtent, plan_extent
from holdfast.storage.core.database import Database, JobTransaction
from holdfast.storage.core.tables.job_tables import jobs, receipts
from holdfast.storage.core.tables.plan_tables import plan_changes, tasks
from holdfast.storage.questions.question_rows import withdraw_questions_of_tasks


async def store_change(
    tx: JobTransaction, plan: Plan, change: PlanChange, *, root: str = "", attempt: int = 1
) -> int:
    """Store a change of `plan`, the job's whole plan, log its event and return its number.

    `root` is the lineage that the added tasks continue; each begins its own if `root` is empty.
    `attempt` is the attempt of the added tasks; beyond the first, their calls are sent again.
    """
    extent = plan_extent(change.apply_to(plan))
    number = await _next_change_number(tx, extent)
    placed = {"added_by_change": number, "attempt": attempt}
    await _insert(tx, (_task_row(task, root) | placed for task in change.added))
    await _supersede(tx, change.superseded)
    await _rewrite_pending_tasks(tx, change.new_values)
    row = change.model_dump(mode="json") | extent.model_dump()
    row |= {"added": list(change.added_ids), "number": number, "job_id": tx.job_id}
    await tx.connection.execute(insert(plan_changes).values(row))
    _log_change(tx, number, change)
    return number


async def _next_change_number(tx: JobTransaction, extent: PlanExtent) -> int:
    """Number the change; not from the job as it was read, for a transaction may make several."""
    numbered = (
        update(jobs)
        .where(jobs.c.id == tx.job_id)
        .values(plan_changes=jobs.c.plan_changes + 1, **extent.model_dump())
        .returning(jobs.c.plan_changes)
    )
    return int((await tx.connection.execute(numbered)).scalar_one())


def _task_row(task: Task, root: str) -> dict[str, Any]:
    return task.model_dump(mode="json", exclude={"result"}) | {"root": root or task.id}


async def _insert(tx: JobTransaction, rows: Iterable[dict[str, Any]]) -> None:
    count = select(func.count()).select_from(tasks).where(tasks.c.job_id == tx.job_id)
    start = int((await tx.connection.execute(count)).scalar_one())
    placed = [
        row | {"job_id": tx.job_id, "position": position}
        for position, row in enumerate(rows, start=start + 1)
    ]
    if placed:
        await tx.connection.execute(insert(tasks), placed)


async def _supersede(tx: JobTransaction, ids: tuple[str, ...]) -> None:
    statement = (
        update(tasks)
        .where(tasks.c.job_id == tx.job_id, tasks.c.id.in_(list(ids)))
        .values(status=TaskStatus.SUPERSEDED.value)
    )
    await tx.connection.execute(statement)
    await withdraw_questions_of_tasks(tx, ids)


async def _rewrite_pending_tasks(
    tx: JobTransaction, new_values: Mapping[str, Mapping[str, JsonValue]]
) -> None:
    """Store the new fields of tasks that have not begun; other tasks stay as they are."""
    for task_id, values in new_values.items():
        await tx.connection.execute(
            update(tasks)
            .where(tasks.c.job_id == tx.job_id, tasks.c.id == task_id)
            .where(tasks.c.status == TaskStatus.PENDING.value)
            .values(dict(values))
        )


def _log_change(tx: JobTransaction, number: int, change: PlanChange) -> None:
    facts: dict[str, JsonValue] = {
        "number": number,
        "cause": change.cause.value,
        "added": list(change.added_ids),
        "superseded": list(change.superseded),
    }
    if change.changed:
        facts["changed"] = list(change.changed_ids)
    if change.gives_up:
        facts["given_up"] = change.failed_task
    kind = EventKind.PLAN_STORED if number == 1 else EventKind.PLAN_CHANGED
    tx.event(kind, change.scope, **facts)


async def delete_plan_receipt(tx: JobTransaction) -> None:
    """Delete the receipt of planning, so that the next planning asks the planner."""
    await tx.connection.execute(
        delete(receipts).where(
            receipts.c.job_id == tx.job_id, receipts.c.key == stored_keys.PLAN_RECEIPT
        )
    )


async def cancel_open_tasks(tx: JobTransaction) -> None:
    """Mark pending and running tasks as cancelled; results that are stored stay."""
    is_open = tasks.c.status.in_([TaskStatus.PENDING.value, TaskStatus.RUNNING.value])
    statement = (
        update(tasks)
        .where(tasks.c.job_id == tx.job_id, is_open)
        .values(status=TaskStatus.CANCELLED.value)
    )
    await tx.connection.execute(statement)


async def count_copied_changes(db: Database, job_id: str) -> int:
    """Return how many plan changes a fork began with; they are older than the fork."""
    is_older = plan_changes.c.created_at < jobs.c.created_at
    query = select(func.count()).where(
        plan_changes.c.job_id == job_id, jobs.c.id == job_id, is_older
    )
    async with db.reading() as connection:
        return int((await connection.execute(query)).scalar_one())


async def load_plan_changes(db: Database, job_id: str) -> list[StoredPlanChange]:
    """Every change of the job's plan, oldest first."""
    query = (
        select(plan_changes).where(plan_changes.c.job_id == job_id).order_by(plan_changes.c.number)
    )
    names = list(StoredPlanChange.model_fields)
    async with db.reading() as connection:
        rows = (await connection.execute(query)).mappings().all()
    return [StoredPlanChange(**{name: row[name] for name in names}) for row in rows]
