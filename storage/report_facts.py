"""What the report's writer and its gates must know of a job: verdicts, questions, open calls."""

from typing import Any

from sqlalchemy import Table, and_, or_, select
from sqlalchemy.ext.asyncio import AsyncConnection

from models.plan import TaskStatus
from models.report_facts import VerificationSummary
from models.tables import llm_calls, questions, stop_checks, tasks, tool_calls, verifications
from models.verification import Contradiction, Verification
from storage.database import Database

_OVER = [
    status.value
    for status in (TaskStatus.DONE, TaskStatus.FAILED, TaskStatus.SUPERSEDED, TaskStatus.CANCELLED)
]


async def summary_of(db: Database, job_id: str) -> VerificationSummary | None:
    """The last verdict on each result, in order of the plan; None where nothing was verified."""
    place = and_(tasks.c.job_id == verifications.c.job_id, tasks.c.id == verifications.c.task_id)
    by_round = (
        select(verifications)
        .join(tasks, place)
        .where(verifications.c.job_id == job_id)
        .where(tasks.c.status != TaskStatus.SUPERSEDED.value)
        .order_by(tasks.c.position, verifications.c.iteration)
    )
    last_round = (
        select(stop_checks)
        .where(stop_checks.c.job_id == job_id)
        .order_by(stop_checks.c.iteration.desc())
        .limit(1)
    )
    async with db.reading() as connection:
        rows = (await connection.execute(by_round)).mappings().all()
        last = (await connection.execute(last_round)).mappings().one_or_none()
    if not rows and last is None:
        return None
    latest = {row["task_id"]: row for row in rows}
    verdicts = tuple(_verdict(row) for row in latest.values())
    if last is None:
        return VerificationSummary(verdicts=verdicts, total=len(verdicts))
    return VerificationSummary(
        iterations=last["iteration"],
        complete=last["complete"],
        total=last["total"],
        confidence=last["confidence"],
        stop=last["fired"],
        verdicts=verdicts,
    )


def _verdict(row: Any) -> Verification:  # noqa: ANN401 - a row mapping
    return Verification.model_validate({name: row[name] for name in Verification.model_fields})


def contradictions_of(summary: VerificationSummary | None) -> tuple[Contradiction, ...]:
    """Each contradiction that the last verdicts name, once."""
    if summary is None:
        return ()
    found = [each for verdict in summary.verdicts for each in verdict.contradictions]
    once = {frozenset((each.one, each.other)): each for each in reversed(found)}
    return tuple(reversed(once.values()))


async def open_questions(db: Database, job_id: str) -> tuple[int, ...]:
    """The numbers of the questions that wait for an answer."""
    query = (
        select(questions.c.id)
        .where(questions.c.job_id == job_id, questions.c.status == "open")
        .order_by(questions.c.id)
    )
    async with db.reading() as connection:
        return tuple((await connection.execute(query)).scalars())


async def unrecorded_calls(db: Database, job_id: str, besides: str) -> tuple[str, ...]:
    """Calls that left and whose outcome is not known, but for those of the task `besides`.

    A call of a task that has ended was given up with it: nobody waits for its outcome, and it is
    told as unknown when the job ends.
    """
    async with db.reading() as connection:
        model = await _unrecorded(connection, llm_calls, "role", job_id, besides)
        tool = await _unrecorded(connection, tool_calls, "tool", job_id, besides)
    return (*model, *tool)


async def _unrecorded(
    connection: AsyncConnection, table: Table, name: str, job_id: str, besides: str
) -> list[str]:
    of_task = and_(tasks.c.job_id == table.c.job_id, tasks.c.id == table.c.task_id)
    query = (
        select(table.c[name].label("name"), table.c.task_id)
        .select_from(table.outerjoin(tasks, of_task))
        .where(table.c.job_id == job_id, table.c.status == "started", table.c.task_id != besides)
        .where(or_(tasks.c.status.is_(None), tasks.c.status.not_in(_OVER)))
        .order_by(table.c.id)
    )
    rows = (await connection.execute(query)).all()
    return [f"{row.name} of {row.task_id}" if row.task_id else str(row.name) for row in rows]
