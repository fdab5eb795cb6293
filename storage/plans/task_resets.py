"""Reset tasks to pending so that they run again; earlier results are kept."""

from collections.abc import Mapping, Sequence

from pydantic import JsonValue
from sqlalchemy import case, delete, func, literal, select, update
from sqlalchemy.dialects.postgresql import JSONB

from holdfast.models.frozen_model import Frozen
from holdfast.models.plans.research_plan import TaskKind, TaskStatus
from holdfast.models.tasks.task_finding import DISPUTED_CLAIMS_NOTE, TIE_BREAKER_NOTE
from holdfast.storage.core.database import JobTransaction
from holdfast.storage.core.tables.evidence_tables import entities
from holdfast.storage.core.tables.plan_tables import tasks
from holdfast.storage.plans.attempt_result_rows import keep_current_results
from holdfast.storage.plans.task_queries import AGENT_ATTEMPT_NOTE


class TaskRetry(Frozen):
    """A task to retry, and what should be different."""

    task_id: str
    hint: str = ""
    missing: tuple[str, ...] = ()


_NEW_ATTEMPT_VALUES = {
    "status": TaskStatus.PENDING.value,
    "attempt": tasks.c.attempt + 1,
    "confidence": None,
    "failure": None,
    "trace": None,
    "started_at": None,
    "finished_at": None,
    "worked_s": 0.0,
    "contradicts_plan": False,
}
REPAIR_NOTE = case(
    (
        func.jsonb_exists(tasks.c.notes, TIE_BREAKER_NOTE),
        func.jsonb_strip_nulls(
            func.jsonb_build_object(
                TIE_BREAKER_NOTE,
                tasks.c.notes[TIE_BREAKER_NOTE],
                DISPUTED_CLAIMS_NOTE,
                tasks.c.notes[DISPUTED_CLAIMS_NOTE],
            )
        ),
    ),
    else_=func.jsonb_build_object(),
)
"""A tie-breaker stays a tie-breaker in its next attempt."""


async def reset_tasks_for_retry(write: JobTransaction, again: Sequence[TaskRetry]) -> None:
    """Make these tasks pending for another attempt; earlier results stay until better ones come.

    Steps keep the number of their agent's attempt. The entities of tool and reasoning tasks are
    deleted, since the next attempt stores its own, and restored if the new ones are worse.
    """
    names = [each.task_id for each in again]
    await keep_current_results(write, names)
    await label_steps_with_attempt(write, names)
    mine = tasks.c.job_id == write.job_id
    for each in again:
        notes: dict[str, JsonValue] = {"hint": each.hint, "missing": list(each.missing)}
        await write.connection.execute(
            update(tasks)
            .where(mine, tasks.c.id == each.task_id)
            .values(_NEW_ATTEMPT_VALUES | {"notes": REPAIR_NOTE.op("||")(literal(notes, JSONB))})
        )
    leaves = select(tasks.c.id).where(
        mine, tasks.c.id.in_(names), tasks.c.kind != TaskKind.AGENT.value
    )
    await write.connection.execute(
        delete(entities).where(entities.c.job_id == write.job_id, entities.c.task_id.in_(leaves))
    )


async def label_steps_with_attempt(write: JobTransaction, names: Sequence[str]) -> None:
    """Note the agent's attempt on each step, before the next attempt adds steps."""
    agent = tasks.alias("agent")
    numbered = func.jsonb_build_object(AGENT_ATTEMPT_NOTE, agent.c.attempt)
    has_none = func.coalesce(func.jsonb_exists(tasks.c.notes, AGENT_ATTEMPT_NOTE), False).is_(False)
    await write.connection.execute(
        update(tasks)
        .where(tasks.c.job_id == write.job_id, tasks.c.parent.in_(names), has_none)
        .where(agent.c.job_id == tasks.c.job_id, agent.c.id == tasks.c.parent)
        .values(notes=func.coalesce(tasks.c.notes, func.jsonb_build_object()).op("||")(numbered))
    )


async def reset_cancelled_tasks(write: JobTransaction, names: Sequence[str]) -> None:
    """Make cancelled tasks pending, because a dependency runs again."""
    await write.connection.execute(
        update(tasks)
        .where(tasks.c.job_id == write.job_id, tasks.c.id.in_(names))
        .where(tasks.c.status == TaskStatus.CANCELLED.value)
        .values(status=TaskStatus.PENDING.value)
    )


async def set_task_notes(
    write: JobTransaction, notes: Mapping[str, Mapping[str, JsonValue]]
) -> None:
    """Set the notes of new tasks."""
    for name, content in notes.items():
        await write.connection.execute(
            update(tasks)
            .where(tasks.c.job_id == write.job_id, tasks.c.id == name)
            .values(notes=dict(content))
        )
