"""Working sub-questions again: another attempt at the same task, with all it has found kept."""

from collections.abc import Mapping, Sequence

from pydantic import JsonValue
from sqlalchemy import case, delete, func, literal, select, update
from sqlalchemy.dialects.postgresql import JSONB

from models.base import Frozen
from models.plan import TaskKind, TaskStatus
from models.tables import entities, tasks
from storage.attempts import snapshot
from storage.database import JobWrite
from storage.plans import OF_ATTEMPT


class Again(Frozen):
    """A task that is worked again, and what is to be different."""

    task_id: str
    hint: str = ""
    missing: tuple[str, ...] = ()


_FRESH = {
    "status": TaskStatus.PENDING.value, "attempt": tasks.c.attempt + 1, "confidence": None,
    "failure": None, "trace": None, "started_at": None, "finished_at": None,
    "contradicts_plan": False,
}  # fmt: skip
_STILL_SETTLES = case(
    (
        func.jsonb_exists(tasks.c.notes, "settles"),
        func.jsonb_build_object("settles", tasks.c.notes["settles"]),
    ),
    else_=func.jsonb_build_object(),
)
"""A repair stays one in its next attempt."""


async def work_again(write: JobWrite, again: Sequence[Again]) -> None:
    """Make these tasks wait for another attempt; what they found stays theirs until it is better.

    Steps keep the number of the attempt that they belonged to. A call or a deduction stores its
    own entities anew, so these go, and come back if the new ones are worse.
    """
    names = [each.task_id for each in again]
    await snapshot(write, names)
    await number_steps(write, names)
    mine = tasks.c.job_id == write.job_id
    for each in again:
        notes: dict[str, JsonValue] = {"hint": each.hint, "missing": list(each.missing)}
        await write.connection.execute(
            update(tasks)
            .where(mine, tasks.c.id == each.task_id)
            .values(_FRESH | {"notes": _STILL_SETTLES.op("||")(literal(notes, JSONB))})
        )
    leaves = select(tasks.c.id).where(
        mine, tasks.c.id.in_(names), tasks.c.kind != TaskKind.AGENT.value
    )
    await write.connection.execute(
        delete(entities).where(entities.c.job_id == write.job_id, entities.c.task_id.in_(leaves))
    )


async def number_steps(write: JobWrite, names: Sequence[str]) -> None:
    """Note which attempt of its agent each step belonged to, before the next one adds its own."""
    agent = tasks.alias("agent")
    numbered = func.jsonb_build_object(OF_ATTEMPT, agent.c.attempt)
    has_none = func.coalesce(func.jsonb_exists(tasks.c.notes, OF_ATTEMPT), False).is_(False)
    await write.connection.execute(
        update(tasks)
        .where(tasks.c.job_id == write.job_id, tasks.c.parent.in_(names), has_none)
        .where(agent.c.job_id == tasks.c.job_id, agent.c.id == tasks.c.parent)
        .values(notes=func.coalesce(tasks.c.notes, func.jsonb_build_object()).op("||")(numbered))
    )


async def wait_again(write: JobWrite, names: Sequence[str]) -> None:
    """Make cancelled tasks wait: what they need is worked again."""
    await write.connection.execute(
        update(tasks)
        .where(tasks.c.job_id == write.job_id, tasks.c.id.in_(names))
        .where(tasks.c.status == TaskStatus.CANCELLED.value)
        .values(status=TaskStatus.PENDING.value)
    )


async def note(write: JobWrite, notes: Mapping[str, Mapping[str, JsonValue]]) -> None:
    """Set the notes of new tasks."""
    for name, content in notes.items():
        await write.connection.execute(
            update(tasks)
            .where(tasks.c.job_id == write.job_id, tasks.c.id == name)
            .values(notes=dict(content))
        )
