"""Plans: the tasks of a job, and every revision with its cause and what it changed."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from pydantic import Field, JsonValue
from sqlalchemy import Row, and_, case, func, insert, or_, select, update

from models.base import Frozen
from models.failures import Failure
from models.plan import Expected, Input, Plan, Task, TaskKind, TaskStatus
from models.revisions import Change
from models.state import TaskState
from models.tables import entities, jobs, llm_calls, plan_revisions, tasks
from models.text import shortened
from planning.graph import Extent, extent
from storage.database import Database, JobWrite
from storage.questions import withdraw_of

OF_ATTEMPT = "of_attempt"
"""In a step's notes: which attempt of its agent it belonged to; none while that is worked."""
REVISE_KEY = "revise:"
"""How the receipts of self-revisions begin: they are counted."""


class Revision(Frozen):
    """One change of the plan."""

    revision: int
    cause: str
    scope: str = ""
    """The agent whose steps changed; empty for the plan itself."""
    failed_task: str | None = None
    explanation: str = ""
    added: tuple[str, ...] = ()
    superseded: tuple[str, ...] = ()
    changed: tuple[Change, ...] = ()
    depth: int = 0
    breadth: float = 0.0


class StoredTask(Frozen):
    """A task with what only PostgreSQL knows of it."""

    task: Task
    position: int
    attempt: int
    root: str
    revision: int
    confidence: float | None = None
    failure: Failure | None = None
    notes: Mapping[str, JsonValue] = Field(default_factory=dict)
    """What an agent means to do, and what it was told."""
    note: str = ""
    """What the tool was called with in the place of what the plan says."""
    started_at: datetime | None = None
    finished_at: datetime | None = None


async def store_revision(
    write: JobWrite,
    plan: Plan,
    revision: Revision,
    roots: Mapping[str, str],
    *,
    attempt: int = 1,
) -> int:
    """Add the revision's tasks, supersede those it replaces; gives the revision's number.

    `plan` is the plan after the change; only the tasks named in `revision.added` are inserted, as
    their `attempt`: beyond the first, calls are made anew.
    """
    size = extent(plan)
    number = await _next_revision(write, size)
    added = [task for task in plan.tasks if task.id in set(revision.added)]
    await _insert(write, added, roots, {"revision": number, "attempt": attempt})
    await _supersede(write, revision.superseded)
    row = revision.model_dump() | {"revision": number, **size.model_dump(), "job_id": write.job_id}
    row |= {"added": list(revision.added), "superseded": list(revision.superseded)}
    row["changed"] = [each.model_dump(mode="json") for each in revision.changed]
    await write.connection.execute(insert(plan_revisions).values(row))
    facts: dict[str, JsonValue] = {
        "revision": number,
        "cause": revision.cause,
        "added": list(revision.added),
        "superseded": list(revision.superseded),
    }
    if revision.changed:
        facts["changed"] = list(dict.fromkeys(each.task for each in revision.changed))
    write.event("plan.stored" if number == 1 else "plan.revised", revision.scope, **facts)
    return number


async def _next_revision(write: JobWrite, size: Extent) -> int:
    """Number the revision; not from the row as it was read, for a transaction may make several."""
    changed = (
        update(jobs)
        .where(jobs.c.id == write.job_id)
        .values(revision=jobs.c.revision + 1, **size.model_dump())
        .returning(jobs.c.revision)
    )
    return int((await write.connection.execute(changed)).scalar_one())


async def _insert(
    write: JobWrite, added: Iterable[Task], roots: Mapping[str, str], common: Mapping[str, int]
) -> None:
    count = select(func.count()).select_from(tasks).where(tasks.c.job_id == write.job_id)
    start = int((await write.connection.execute(count)).scalar_one())
    rows = [
        _row(write.job_id, task) | {"position": n, "root": roots[task.id], **common}
        for n, task in enumerate(added, start=start + 1)
    ]
    if rows:
        await write.connection.execute(insert(tasks), rows)


async def _supersede(write: JobWrite, gone: tuple[str, ...]) -> None:
    statement = (
        update(tasks)
        .where(tasks.c.job_id == write.job_id, tasks.c.id.in_(list(gone)))
        .values(status=TaskStatus.SUPERSEDED.value)
    )
    await write.connection.execute(statement)
    await withdraw_of(write, gone)


def _row(job_id: str, task: Task) -> dict[str, Any]:
    content = task.model_dump(mode="json", exclude={"result"})
    return content | {"job_id": job_id}


async def load_tasks(db: Database, job_id: str) -> list[StoredTask]:
    """Every task of the job in order of planning, with the entities of the finished ones."""
    found = _with_values(tasks.c.job_id == job_id)
    async with db.reading() as connection:
        return [_stored(row) for row in (await connection.execute(found)).all()]


async def load_node(db: Database, job_id: str, task_id: str) -> list[StoredTask]:
    """An agent task with its steps and the tasks it depends on, and nothing else of the plan."""
    needs = select(func.unnest(tasks.c.depends_on)).where(
        tasks.c.job_id == job_id, tasks.c.id == task_id
    )
    mine = or_(tasks.c.id == task_id, tasks.c.parent == task_id, tasks.c.id.in_(needs))
    found = _with_values(and_(tasks.c.job_id == job_id, mine))
    async with db.reading() as connection:
        return [_stored(row) for row in (await connection.execute(found)).all()]


async def load_task(db: Database, job_id: str, task_id: str) -> StoredTask:
    """One task of the job."""
    found = _with_values(and_(tasks.c.job_id == job_id, tasks.c.id == task_id))
    async with db.reading() as connection:
        return _stored((await connection.execute(found)).one())


def _with_values(where: Any) -> Any:  # noqa: ANN401 - SQLAlchemy's own type of a condition
    values = (
        select(func.jsonb_object_agg(entities.c.name, entities.c.value))
        .where(entities.c.job_id == tasks.c.job_id, entities.c.task_id == tasks.c.id)
        .scalar_subquery()
        .label("result")
    )
    return select(tasks, values).where(where).order_by(tasks.c.position)


async def load_plan(db: Database, job_id: str) -> Plan:
    """The plan as it stands, all tasks in order of planning."""
    return Plan(tasks=tuple(each.task for each in await load_tasks(db, job_id)))


async def task_states(
    db: Database, job_id: str, after: int = 0, limit: int | None = None, *, of_new_run: bool = True
) -> list[TaskState]:
    """Tasks behind position `after` as the scheduler sees them.

    For a new workflow run a call or a deduction that was running is pending again: its receipt, if
    there is one, answers at once. An agent stays at work: it goes on from the steps it has, also
    where a task that it came to wait for has failed.
    """
    query = (
        select(tasks, _worked().label("worked"))
        .where(tasks.c.job_id == job_id, tasks.c.position > after)
        .order_by(tasks.c.position)
        .limit(limit)
    )
    async with db.reading() as connection:
        states = [_state(row) for row in (await connection.execute(query)).all()]
    return [_begun_anew(state) for state in states] if of_new_run else states


def _worked() -> Any:  # noqa: ANN401 - SQLAlchemy's own type of an expression
    """Seconds that an agent's steps and its own model calls took; nothing for other tasks."""
    steps = tasks.alias("steps")
    is_of_now = func.coalesce(func.jsonb_exists(steps.c.notes, OF_ATTEMPT), False).is_(False)
    of_steps = (
        select(func.sum(func.extract("epoch", steps.c.finished_at - steps.c.started_at)))
        .where(steps.c.job_id == tasks.c.job_id, steps.c.parent == tasks.c.id, is_of_now)
        .scalar_subquery()
    )
    of_calls = (
        select(func.sum(func.extract("epoch", llm_calls.c.finished_at - llm_calls.c.started_at)))
        .where(llm_calls.c.job_id == tasks.c.job_id, llm_calls.c.task_id == tasks.c.id)
        .where(llm_calls.c.attempt == tasks.c.attempt)
        .scalar_subquery()
    )
    worked = func.coalesce(of_steps, 0) + func.coalesce(of_calls, 0)
    return case((tasks.c.kind == TaskKind.AGENT.value, worked))


async def cancel_open_tasks(write: JobWrite) -> None:
    """Mark what had not ended as cancelled; what was found stays."""
    is_open = tasks.c.status.in_([TaskStatus.PENDING.value, TaskStatus.RUNNING.value])
    statement = (
        update(tasks)
        .where(tasks.c.job_id == write.job_id, is_open)
        .values(status=TaskStatus.CANCELLED.value)
    )
    await write.connection.execute(statement)


async def revisions(db: Database, job_id: str) -> list[Revision]:
    """Every revision of the plan, oldest first."""
    query = (
        select(plan_revisions)
        .where(plan_revisions.c.job_id == job_id)
        .order_by(plan_revisions.c.revision)
    )
    names = list(Revision.model_fields)
    async with db.reading() as connection:
        rows = (await connection.execute(query)).mappings().all()
    return [Revision(**{name: row[name] for name in names}) for row in rows]


def label_of(task: Task) -> str:
    """What a person reads in the Temporal UI: the id and the description's beginning."""
    return shortened(" ".join(task.description.split()), 72)


def _stored(row: Row[Any]) -> StoredTask:
    return StoredTask(
        task=task_of(row),
        position=row.position,
        attempt=row.attempt,
        root=row.root,
        revision=row.revision,
        confidence=row.confidence,
        failure=Failure.model_validate(row.failure) if row.failure else None,
        notes=row.notes or {},
        note=(row.trace or {}).get("note", ""),
        started_at=row.started_at,
        finished_at=row.finished_at,
    )


def task_of(row: Any) -> Task:  # noqa: ANN401 - a row of either driver
    """The task in a row that has its columns."""
    return Task(
        id=row.id,
        kind=TaskKind(row.kind),
        description=row.description,
        criteria=row.criteria,
        tool=row.tool,
        agent=row.agent,
        parent=row.parent,
        inputs=tuple(Input.model_validate(each) for each in row.inputs),
        expects=tuple(Expected.model_validate(each) for each in row.expects),
        depends_on=tuple(row.depends_on),
        priority=row.priority,
        include_context=row.include_context,
        status=TaskStatus(row.status),
        result=getattr(row, "result", None) or {},
    )


def _begun_anew(state: TaskState) -> TaskState:
    if state.status is not TaskStatus.RUNNING or state.kind is TaskKind.AGENT:
        return state
    return state.model_copy(update={"status": TaskStatus.PENDING})


def _state(row: Row[Any]) -> TaskState:
    task = task_of(row)
    failure = Failure.model_validate(row.failure) if row.failure else None
    return TaskState(
        id=task.id,
        kind=task.kind,
        label=label_of(task),
        depends_on=task.depends_on,
        priority=task.priority,
        status=task.status,
        attempt=row.attempt,
        root=row.root,
        is_final=task.is_final,
        note=failure.first_line if failure else "",
        parent=task.parent,
        contradicts_plan=row.contradicts_plan,
        seconds=float(row.worked or 0.0),
    )
