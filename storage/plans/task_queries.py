"""Load the tasks of a job, its plan and the states that the scheduler sees."""

from collections.abc import Mapping
from typing import Any

from pydantic import JsonValue
from sqlalchemy import Row, Select, and_, case, func, literal, or_, select
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.ext.asyncio import AsyncConnection

from holdfast.models.jobs.job_state import TaskState
from holdfast.models.plans.research_plan import (
    OPENING_FINDINGS,
    OPENING_TASK,
    ExpectedEntity,
    Plan,
    Task,
    TaskInput,
    TaskKind,
    TaskStatus,
)
from holdfast.models.tasks.stored_task import StoredTask, plan_of
from holdfast.models.tasks.task_failure import Failure
from holdfast.storage.core.database import Database
from holdfast.storage.core.tables.evidence_tables import entities
from holdfast.storage.core.tables.plan_tables import tasks

AGENT_ATTEMPT_NOTE = "agent_attempt"
"""In a step's notes: which attempt of its agent it belonged to; none while that is worked."""
ANSWERED_NOTE = "is_answered"
"""In the notes of an opening loop: true if it answered the whole question."""
GIVEN_UP_NOTE = "is_given_up"
"""In the notes of a failed task: true if the replanner expects nothing of another attempt."""

CONSIDERED_NOTE = "is_considered"
"""In the notes of an agent task: true if a revision after its batch has seen the result."""


def select_opening_task(job_id: str) -> Select[tuple[str]]:
    """Return the query for the id of the cited loop that the job began with; one row or none."""
    findings = literal([OPENING_FINDINGS.model_dump(mode="json")], JSONB)
    return select(tasks.c.id).where(
        tasks.c.job_id == job_id, tasks.c.id == OPENING_TASK, tasks.c.expects == findings
    )


async def load_tasks(db: Database, job_id: str) -> list[StoredTask]:
    """Return every task of the job in order of planning, with entities."""
    async with db.reading() as connection:
        return await load_tasks_within(connection, job_id)


async def load_tasks_within(connection: AsyncConnection, job_id: str) -> list[StoredTask]:
    """`load_tasks` within a transaction."""
    found = _tasks_with_entities(tasks.c.job_id == job_id)
    return [_stored_task(row) for row in (await connection.execute(found)).all()]


async def load_agent_task(db: Database, job_id: str, task_id: str) -> list[StoredTask]:
    """Return an agent task with its steps and dependencies only."""
    needs = select(func.unnest(tasks.c.depends_on)).where(
        tasks.c.job_id == job_id, tasks.c.id == task_id
    )
    mine = or_(tasks.c.id == task_id, tasks.c.parent == task_id, tasks.c.id.in_(needs))
    found = _tasks_with_entities(and_(tasks.c.job_id == job_id, mine))
    async with db.reading() as connection:
        return [_stored_task(row) for row in (await connection.execute(found)).all()]


async def load_task(db: Database, job_id: str, task_id: str) -> StoredTask:
    """Return one task of the job."""
    found = _tasks_with_entities(and_(tasks.c.job_id == job_id, tasks.c.id == task_id))
    async with db.reading() as connection:
        return _stored_task((await connection.execute(found)).one())


def _tasks_with_entities(where: Any) -> Any:  # noqa: ANN401 - SQLAlchemy's own type of a condition
    values = (
        select(func.jsonb_object_agg(entities.c.name, entities.c.value))
        .where(entities.c.job_id == tasks.c.job_id, entities.c.task_id == tasks.c.id)
        .scalar_subquery()
        .label("result")
    )
    return select(tasks, values).where(where).order_by(tasks.c.position)


async def load_plan(db: Database, job_id: str) -> Plan:
    """Return the current plan: all tasks in order of planning."""
    return plan_of(await load_tasks(db, job_id))


async def task_states(
    db: Database, job_id: str, after: int = 0, limit: int | None = None, *, of_new_run: bool = True
) -> list[TaskState]:
    """Return the scheduler's states of the tasks after position `after`.

    For a new workflow run, a running tool or reasoning task is pending again: its receipt, if there
    is one, is used at once. An agent task stays running: it continues from its steps, also if a
    task that it depends on has failed.
    """
    query = (
        select(tasks, _working_seconds().label("worked"))
        .where(tasks.c.job_id == job_id, tasks.c.position > after)
        .order_by(tasks.c.position)
        .limit(limit)
    )
    async with db.reading() as connection:
        states = [_state(row) for row in (await connection.execute(query)).all()]
    return [_reset_running(state) for state in states] if of_new_run else states


def _working_seconds() -> Any:  # noqa: ANN401 - SQLAlchemy's own type of an expression
    """Return how long workers worked on an agent's steps and turns; 0 for other tasks."""
    steps = tasks.alias("steps")
    is_of_now = func.coalesce(func.jsonb_exists(steps.c.notes, AGENT_ATTEMPT_NOTE), False).is_(
        False
    )
    of_steps = (
        select(func.coalesce(func.sum(steps.c.worked_s), 0.0))
        .where(steps.c.job_id == tasks.c.job_id, steps.c.parent == tasks.c.id, is_of_now)
        .scalar_subquery()
    )
    return case((tasks.c.kind == TaskKind.AGENT.value, tasks.c.worked_s + of_steps))


def _stored_task(row: Row[Any]) -> StoredTask:
    return StoredTask(
        task=task_from_row(row),
        position=row.position,
        attempt=row.attempt,
        root=row.root,
        added_by_change=row.added_by_change,
        confidence=row.confidence,
        failure=Failure.model_validate(row.failure) if row.failure else None,
        notes=row.notes or {},
        note=(row.trace or {}).get("note", ""),
        summary=(row.trace or {}).get("summary", ""),
        started_at=row.started_at,
        finished_at=row.finished_at,
    )


def task_from_row(row: Any) -> Task:  # noqa: ANN401 - a row of either driver
    """Return the task of a row."""
    return Task(
        id=row.id,
        kind=TaskKind(row.kind),
        description=row.description,
        criteria=row.criteria,
        tool=row.tool,
        agent=row.agent,
        parent=row.parent,
        inputs=tuple(TaskInput.model_validate(each) for each in row.inputs),
        expects=tuple(ExpectedEntity.model_validate(each) for each in row.expects),
        depends_on=tuple(row.depends_on),
        priority=row.priority,
        include_context=row.include_context,
        status=TaskStatus(row.status),
        result=getattr(row, "result", None) or {},
    )


def _reset_running(state: TaskState) -> TaskState:
    if state.status is not TaskStatus.RUNNING or state.kind is TaskKind.AGENT:
        return state
    return state.with_status(TaskStatus.PENDING)


def is_given_up(notes: Mapping[str, JsonValue] | None) -> bool:
    """Return whether these are the notes of a failed task that the replanner gave up."""
    return bool((notes or {}).get(GIVEN_UP_NOTE))


def _state(row: Row[Any]) -> TaskState:
    failure = Failure.model_validate(row.failure) if row.failure else None
    task = task_from_row(row)
    is_done_opening = task.is_opening and task.status is TaskStatus.DONE
    return TaskState.of(
        task,
        root=row.root,
        attempt=row.attempt,
        note=failure.first_line if failure else "",
        contradicts_plan=row.contradicts_plan,
        seconds=float(row.worked or 0.0),
        is_answered=bool((row.notes or {}).get(ANSWERED_NOTE)),
        is_empty=is_done_opening and row.confidence is None,
        is_given_up=is_given_up(row.notes),
        is_considered=bool((row.notes or {}).get(CONSIDERED_NOTE)),
    )
