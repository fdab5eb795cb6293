"""Compare a half-done job that was continued with its undisturbed twin."""

from collections import Counter
from dataclasses import dataclass

from sqlalchemy import func, select

from holdfast.models.verification.verification_verdicts import StopCondition
from holdfast.storage.core.database import Database
from holdfast.storage.core.tables.call_tables import model_calls, tool_calls
from holdfast.storage.core.tables.job_tables import jobs
from holdfast.storage.core.tables.plan_tables import plan_changes, tasks
from tests.upgrades.half_done_jobs import question_of, without_name


@dataclass(frozen=True)
class JobCourse:
    """What a job came to, without its name."""

    status: str
    message: str
    """Why it ended as it did."""
    answer: str
    plan_changes: list[tuple[str, str]]
    """The scope and the cause of each."""
    tasks: dict[str, str]
    """The status of each task."""


async def job_ids(db: Database) -> dict[str, str]:
    """Return the id of each job by its question."""
    async with db.reading() as connection:
        rows = (await connection.execute(select(jobs.c.question, jobs.c.id))).all()
    return {row.question: row.id for row in rows}


async def course_of(db: Database, job: str) -> JobCourse:
    """Return the course of the job with this name."""
    job_id = (await job_ids(db))[question_of(job)]
    changes = (
        select(plan_changes.c.scope, plan_changes.c.cause)
        .where(plan_changes.c.job_id == job_id)
        .order_by(plan_changes.c.scope, plan_changes.c.cause)
    )
    status = select(tasks.c.id, tasks.c.status).where(tasks.c.job_id == job_id)
    async with db.reading() as connection:
        row = (await connection.execute(select(jobs).where(jobs.c.id == job_id))).one()
        return JobCourse(
            status=row.status,
            message=_in_words_of_today(without_name(row.message)),
            answer=without_name(str(row.answer)),
            plan_changes=[tuple(each) for each in (await connection.execute(changes)).all()],
            tasks={each.id: each.status for each in await connection.execute(status)},
        )


async def finished_calls(db: Database) -> tuple[int, int]:
    """Return how many model calls and how many tool calls are answered."""
    async with db.reading() as connection:
        models, tools = [
            await connection.scalar(
                select(func.count()).select_from(table).where(table.c.status == "done")
            )
            for table in (model_calls, tool_calls)
        ]
    return models, tools


async def places_answered_twice(db: Database) -> list[object]:
    """Return the places of which two calls are answered: the second was paid for nothing."""
    answered: Counter[tuple[object, ...]] = Counter()
    for table, name in ((model_calls, "role"), (tool_calls, "tool")):
        columns = [table.c[each] for each in ("job_id", "task_id", "attempt", name, "part")]
        query = select(*columns).where(table.c.status == "done")
        async with db.reading() as connection:
            answered.update(tuple(row) for row in (await connection.execute(query)).all())
    return [place for place, times in answered.items() if times > 1]


def _in_words_of_today(message: str) -> str:
    """The message of an earlier release: releases before 0.1 named stop conditions by their ids."""
    for condition in StopCondition:
        message = message.replace(condition.value, condition.in_words)
    return message
