"""An agent task's transactions: it begins, goes on with more steps, or concludes."""

from collections.abc import Mapping, Sequence

from pydantic import JsonValue
from sqlalchemy import func, select, update
from sqlalchemy.dialects.postgresql import insert as upsert

from models.attempts import FoundEntity
from models.failures import Failure
from models.orders import TaskOrder
from models.plan import Expected, Task, TaskStatus
from models.tables import entities, tasks, tool_calls
from planning.kpis import Candidate
from storage import attempts
from storage.database import Database, JobWrite
from storage.plans import OF_ATTEMPT

CONTRADICTS = "contradicts_plan"
"""In a task's notes: which assumption of the plan its result contradicts."""
_OPEN = (TaskStatus.PENDING.value, TaskStatus.RUNNING.value)


async def notes_at_work(
    write: JobWrite, task_id: str, attempt: int
) -> Mapping[str, JsonValue] | None:
    """Mark the agent's attempt as running; gives its notes, none once the plan has moved on."""
    at_work = (
        update(tasks)
        .where(tasks.c.job_id == write.job_id, tasks.c.id == task_id)
        .where(tasks.c.status.in_(_OPEN), tasks.c.attempt == attempt)
        .values(
            status=TaskStatus.RUNNING.value,
            started_at=func.coalesce(tasks.c.started_at, func.now()),
        )
        .returning(tasks.c.notes)
    )
    row = (await write.connection.execute(at_work)).one_or_none()
    return None if row is None else row.notes or {}


async def note(write: JobWrite, task_id: str, notes: Mapping[str, JsonValue]) -> None:
    """Keep what the agent means to do, beside what was kept before."""
    if notes:
        kept = func.coalesce(tasks.c.notes, func.jsonb_build_object())
        await write.connection.execute(
            update(tasks)
            .where(tasks.c.job_id == write.job_id, tasks.c.id == task_id)
            .values(notes=kept.op("||")(dict(notes)))
        )


async def wait_for(write: JobWrite, task_id: str, names: Sequence[str]) -> None:
    """Let the agent depend on tasks that are to answer its question."""
    for name in names:
        needs = func.array_append(func.array_remove(tasks.c.depends_on, name), name)
        await write.connection.execute(
            update(tasks)
            .where(tasks.c.job_id == write.job_id, tasks.c.id == task_id)
            .values(depends_on=needs)
        )


async def conclude(
    write: JobWrite,
    task: Task,
    attempt: int,
    *,
    kept: Sequence[Candidate],
    failure: Failure | None,
    confidence: float | None,
    contradicts: str,
) -> None:
    """Store the agent's result: what it found, or why it failed; its steps keep what they found.

    A retry that found less never takes away what an earlier attempt found (VMAO).
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
    declared = {entity.name: entity for entity in task.expects}
    if not failure:
        found = [_found(each, declared.get(each.name)) for each in kept]
        await attempts.keep_attempt(write, task.id, attempt, found, confidence)
        for each in found:
            await _remember(write, task.id, each)
    if task.is_final and not failure and kept:
        await write.set(answer=kept[0].value)
    if contradicts:
        await note(write, task.id, {CONTRADICTS: contradicts})
    facts: dict[str, JsonValue] = {"confidence": confidence}
    if failure:
        facts |= {"failure": failure.first_line, "class": failure.failure_class.value}
        facts |= {"remedy": failure.remedy.value}
    if contradicts:
        facts["contradicts_plan"] = contradicts[:500]
    write.event(f"task.{status.value}", task.id, **facts)


def _found(kept: Candidate, declared: Expected | None) -> FoundEntity:
    return FoundEntity(
        name=kept.name,
        type=declared.type.value if declared else "string",
        description=declared.description if declared else "",
        value=kept.value,
        confidence=min(max(kept.confidence, 0.0), 1.0),
    )


async def _remember(write: JobWrite, task_id: str, found: FoundEntity) -> None:
    place = {"job_id": write.job_id, "task_id": task_id}
    row = found.model_dump(mode="json")
    statement = upsert(entities).values(place | row)
    is_better = statement.excluded.confidence >= func.coalesce(entities.c.confidence, 0.0)
    await write.connection.execute(
        statement.on_conflict_do_update(
            index_elements=["job_id", "task_id", "name"], set_=row, where=is_better
        )
    )


async def calls_in_a_row(db: Database, order: TaskOrder, parent: str, tool: str, most: int) -> int:
    """How many of the agent's last calls were of this tool; at most `most` are looked at.

    The calls of this task itself do not count: it may be going on after a crash. Nor do those of
    earlier attempts at the agent's sub-question.
    """
    is_earlier = func.coalesce(func.jsonb_exists(tasks.c.notes, OF_ATTEMPT), False)
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
