"""Begin, extend and finish an agent task: its status, notes, dependencies and result."""

from collections.abc import Mapping, Sequence

from pydantic import JsonValue
from sqlalchemy import func, select, update
from sqlalchemy.dialects.postgresql import insert as upsert

from holdfast.models.jobs.activity_orders import TaskOrder
from holdfast.models.plans.research_plan import Task, TaskStatus
from holdfast.models.tasks.attempt_results import EntityValue
from holdfast.models.tasks.task_failure import Failure
from holdfast.models.wire.event_kinds import task_end_event
from holdfast.storage.core.database import Database, JobTransaction
from holdfast.storage.core.tables.call_tables import tool_calls
from holdfast.storage.core.tables.evidence_tables import entities
from holdfast.storage.core.tables.plan_tables import tasks
from holdfast.storage.plans import attempt_result_rows
from holdfast.storage.plans.task_queries import AGENT_ATTEMPT_NOTE

CONTRADICTION_NOTE = "contradicts_plan"
"""Key in a task's notes: the assumption of the plan that the result contradicts."""
_OPEN = [status.value for status in TaskStatus if status.is_open]


async def begin_agent_attempt(
    write: JobTransaction, task_id: str, attempt: int, worked_s: float
) -> Mapping[str, JsonValue] | None:
    """Mark the agent's attempt as running and add the worked time of its turn; return its notes.

    Returns None if the plan has changed.
    """
    at_work = (
        update(tasks)
        .where(tasks.c.job_id == write.job_id, tasks.c.id == task_id)
        .where(tasks.c.status.in_(_OPEN), tasks.c.attempt == attempt)
        .values(
            status=TaskStatus.RUNNING.value,
            started_at=func.coalesce(tasks.c.started_at, func.now()),
            worked_s=tasks.c.worked_s + worked_s,
        )
        .returning(tasks.c.notes)
    )
    row = (await write.connection.execute(at_work)).one_or_none()
    return None if row is None else row.notes or {}


async def add_agent_notes(
    write: JobTransaction, task_id: str, notes: Mapping[str, JsonValue]
) -> None:
    """Add notes to the agent task."""
    if notes:
        kept = func.coalesce(tasks.c.notes, func.jsonb_build_object())
        await write.connection.execute(
            update(tasks)
            .where(tasks.c.job_id == write.job_id, tasks.c.id == task_id)
            .values(notes=kept.op("||")(dict(notes)))
        )


async def add_dependencies(write: JobTransaction, task_id: str, names: Sequence[str]) -> None:
    """Make the agent task depend on the tasks that answer its question."""
    for name in names:
        needs = func.array_append(func.array_remove(tasks.c.depends_on, name), name)
        await write.connection.execute(
            update(tasks)
            .where(tasks.c.job_id == write.job_id, tasks.c.id == task_id)
            .values(depends_on=needs)
        )


async def finish_agent_task(
    write: JobTransaction,
    task: Task,
    attempt: int,
    *,
    kept: Sequence[EntityValue],
    failure: Failure | None,
    confidence: float | None,
    contradicts: str,
) -> None:
    """Store the agent's result or failure; its steps keep their entities.

    A retry that found less never removes an earlier attempt's results (VMAO).
    """
    status = TaskStatus.FAILED if failure else TaskStatus.DONE
    ended = {
        "status": status.value,
        "confidence": confidence,
        "failure": failure.model_dump(mode="json") if failure else None,
        "contradicts_plan": bool(contradicts),
        "finished_at": func.now(),
    }
    await write.connection.execute(
        update(tasks).where(tasks.c.job_id == write.job_id, tasks.c.id == task.id).values(ended)
    )
    if not failure:
        await attempt_result_rows.keep_attempt_result(write, task.id, attempt, kept, confidence)
        for entity in kept:
            await _keep_better_entity(write, task.id, entity)
    if task.is_final and not failure and kept:
        await write.set(answer=kept[0].value)
    if contradicts:
        await add_agent_notes(write, task.id, {CONTRADICTION_NOTE: contradicts})
    facts: dict[str, JsonValue] = {"confidence": confidence}
    if failure:
        facts |= {"failure": failure.first_line, "class": failure.failure_class.value}
        facts |= {"remedy": failure.remedy.value}
    if contradicts:
        facts["contradicts_plan"] = contradicts[:500]
    write.event(task_end_event(has_failed=failure is not None), task.id, **facts)


async def _keep_better_entity(write: JobTransaction, task_id: str, found: EntityValue) -> None:
    place = {"job_id": write.job_id, "task_id": task_id}
    row = found.model_dump(mode="json")
    statement = upsert(entities).values(place | row)
    is_better = statement.excluded.confidence >= func.coalesce(entities.c.confidence, 0.0)
    await write.connection.execute(
        statement.on_conflict_do_update(
            index_elements=["job_id", "task_id", "name"], set_=row, where=is_better
        )
    )


async def count_consecutive_calls(
    db: Database, order: TaskOrder, parent: str, tool: str, most: int
) -> int:
    """Return how many of the agent's last calls were of this tool, up to `most`.

    Calls of this step itself do not count, since it may continue after a crash; nor do calls of
    earlier attempts at the agent task.
    """
    is_earlier = func.coalesce(func.jsonb_exists(tasks.c.notes, AGENT_ATTEMPT_NOTE), False)
    query = (
        select(tool_calls.c.tool)
        .join(tasks, (tasks.c.job_id == tool_calls.c.job_id) & (tasks.c.id == tool_calls.c.task_id))
        .where(tool_calls.c.job_id == order.job_id, tasks.c.parent == parent)
        .where(tasks.c.id != order.task_id, is_earlier.is_(False))
        .order_by(tool_calls.c.id.desc())
        .limit(most)
    )
    async with db.reading() as connection:
        names = list((await connection.execute(query)).scalars())
    return next((n for n, name in enumerate(names) if name != tool), len(names))
