"""Choose ended jobs by age and size, and remove their raw answers or their logs."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from sqlalchemy import (
    ColumnElement,
    Select,
    and_,
    delete,
    false,
    func,
    literal_column,
    or_,
    select,
    true,
    union_all,
    update,
)
from sqlalchemy.ext.asyncio import AsyncConnection

from holdfast.models.frozen_model import Frozen
from holdfast.models.jobs.job_record import FINAL_JOB_STATUSES
from holdfast.models.jobs.pruning import PrunedPart
from holdfast.storage.core.database import Database
from holdfast.storage.core.tables.call_tables import model_calls, tool_calls
from holdfast.storage.core.tables.job_tables import events, jobs
from holdfast.storage.core.tables.loop_tables import loop_messages
from holdfast.storage.jobs.job_removal import TABLES_OF_JOBS
from holdfast.storage.schedules.schedule_run_rows import jobs_of_open_schedules


class EndedJob(Frozen):
    """An ended job of which something can be removed."""

    job_id: str
    question: str
    finished_at: datetime
    size_bytes: int
    """The bytes in PostgreSQL that the removal frees, without indexes."""


async def ended_jobs(
    db: Database,
    part: PrunedPart = PrunedPart.JOBS,
    *,
    older_than: timedelta | None = None,
    down_to_bytes: int | None = None,
) -> list[EndedJob]:
    """Return the jobs that still have the part, the jobs that ended first at the beginning.

    `older_than` leaves out jobs that ended later. With `down_to_bytes` only so many jobs are
    returned that the part of all other jobs, running jobs included, has at most these bytes.
    """
    sizes = _sizes(part).subquery()
    total = select(func.coalesce(func.sum(sizes.c.size_bytes), 0))
    is_old = true() if older_than is None else jobs.c.finished_at < func.now() - older_than
    query = (
        select(jobs.c.id.label("job_id"), jobs.c.question, jobs.c.finished_at, sizes.c.size_bytes)
        .join(sizes, sizes.c.job_id == jobs.c.id)
        .where(jobs.c.status.in_(FINAL_JOB_STATUSES), is_old, _has_part(part))
        .order_by(jobs.c.finished_at, jobs.c.id)
    )
    async with db.reading() as connection:
        left = (
            int((await connection.execute(total)).scalar_one()) if down_to_bytes is not None else 0
        )
        rows = (await connection.execute(query)).mappings()
        found = [EndedJob.model_validate(dict(row)) for row in rows]
    return found if down_to_bytes is None else _until(found, left, down_to_bytes)


async def jobs_past_retention(
    db: Database,
    after: timedelta | None,
    owners: Mapping[str, timedelta | None],
    *,
    only: str | None = None,
) -> list[EndedJob]:
    """Return the ended jobs that are older than jobs of their owner are kept, the newest first.

    `owners` has the time of single owners, and `after` that of all others; None keeps the job. A
    job stays whose report the next run of a schedule updates or compares with. `only` is the id of
    a job: all others are left out.
    """
    age = func.now() - jobs.c.finished_at
    named = {name: kept for name, kept in owners.items() if kept is not None}
    is_due = [and_(jobs.c.owner == name, age > kept) for name, kept in named.items()]
    if after is not None:
        is_due.append(and_(jobs.c.owner.not_in(list(owners)), age > after))
    sizes = _sizes(PrunedPart.JOBS).subquery()
    query = (
        select(jobs.c.id.label("job_id"), jobs.c.question, jobs.c.finished_at, sizes.c.size_bytes)
        .join(sizes, sizes.c.job_id == jobs.c.id)
        .where(jobs.c.status.in_(FINAL_JOB_STATUSES), or_(false(), *is_due))
        .where(
            jobs.c.id.not_in(jobs_of_open_schedules()),
            true() if only is None else jobs.c.id == only,
        )
        .order_by(jobs.c.created_at.desc(), jobs.c.id)
    )
    async with db.reading() as connection:
        rows = (await connection.execute(query)).mappings()
        return [EndedJob.model_validate(dict(row)) for row in rows]


async def prune_responses(db: Database, job_ids: Sequence[str]) -> None:
    """Remove what models and tools answered to these ended jobs; the jobs cannot be reopened then.

    Numbers, quotes, the passages that were read and the reports stay.
    """
    for job_id in job_ids:
        async with db.writing() as connection:
            if not await _mark(connection, job_id, jobs.c.responses_pruned_at):
                continue
            of_job = model_calls.c.job_id == job_id
            without = {"request": "", "response": None}
            await connection.execute(update(model_calls).where(of_job).values(without))
            answers = update(tool_calls).where(tool_calls.c.job_id == job_id)
            await connection.execute(answers.values(response=None))
            await connection.execute(delete(loop_messages).where(loop_messages.c.job_id == job_id))


async def prune_events(db: Database, job_ids: Sequence[str]) -> None:
    """Remove the logs of these ended jobs; the last entry stays, which says how the job ended."""
    for job_id in job_ids:
        async with db.writing() as connection:
            if not await _mark(connection, job_id, jobs.c.events_pruned_at):
                continue
            last = select(jobs.c.last_event).where(jobs.c.id == job_id).scalar_subquery()
            old = delete(events).where(events.c.job_id == job_id, events.c.seq < last)
            await connection.execute(old)


async def _mark(connection: AsyncConnection, job_id: str, column: ColumnElement[object]) -> bool:
    """Note when the part was removed; False: the job is gone, runs again, or was pruned before."""
    still = (jobs.c.id == job_id, jobs.c.status.in_(FINAL_JOB_STATUSES), column.is_(None))
    marked = await connection.execute(update(jobs).where(*still).values({column: func.now()}))
    return marked.rowcount == 1


def _has_part(part: PrunedPart) -> ColumnElement[bool]:
    match part:
        case PrunedPart.JOBS:
            return true()
        case PrunedPart.RESPONSES:
            return jobs.c.responses_pruned_at.is_(None)
        case PrunedPart.EVENTS:
            return jobs.c.events_pruned_at.is_(None)


def _sizes(part: PrunedPart) -> Select[tuple[str, int]]:
    """Select the bytes of the part by job."""
    size = func.pg_column_size
    match part:
        case PrunedPart.JOBS:
            rows = [
                select(table.c.job_id.label("job_id"), size(literal_column(table.name)).label("n"))
                for table in TABLES_OF_JOBS
            ]
            rows.append(select(jobs.c.id, size(literal_column(jobs.name))))
        case PrunedPart.RESPONSES:
            answer = func.coalesce(size(model_calls.c.response), 0)
            rows = [
                select(
                    model_calls.c.job_id.label("job_id"),
                    (size(model_calls.c.request) + answer).label("n"),
                ),
                select(tool_calls.c.job_id, func.coalesce(size(tool_calls.c.response), 0)),
                select(loop_messages.c.job_id, size(literal_column(loop_messages.name))),
            ]
        case PrunedPart.EVENTS:
            rows = [
                select(
                    events.c.job_id.label("job_id"), size(literal_column(events.name)).label("n")
                )
            ]
    parts = union_all(*rows).subquery()
    return select(parts.c.job_id, func.sum(parts.c.n).label("size_bytes")).group_by(parts.c.job_id)


def _until(found: Sequence[EndedJob], total: int, most: int) -> list[EndedJob]:
    """Return the first of the jobs, until all others have at most `most` bytes."""
    chosen: list[EndedJob] = []
    for job in found:
        if total <= most:
            break
        chosen.append(job)
        total -= job.size_bytes
    return chosen
