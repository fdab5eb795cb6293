"""Remove an ended job with everything that only this job needs."""

from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import CursorResult, delete, func, select

from holdfast.models.errors import BadInput, NotFound
from holdfast.models.frozen_model import Frozen
from holdfast.models.jobs.job_record import FINAL_JOB_STATUSES, JobStatus
from holdfast.storage.core.database import Database
from holdfast.storage.core.tables.evidence_tables import evidence, sources
from holdfast.storage.core.tables.job_tables import jobs


class RemovedJob(Frozen):
    """A removed job, and what else was removed or stays."""

    job_id: str
    question: str
    sources: int
    """The stored texts that only this job quoted, which are removed as well."""
    unused_collection: str = ""
    """The job's collection if no other job uses it; it stays, because its user may have made it."""


class EndedJob(Frozen):
    """An ended job that can be removed."""

    job_id: str
    question: str
    finished_at: datetime


def not_ended_error(job_id: str, status: str) -> BadInput:
    """Return the error for a job that cannot be removed yet."""
    return BadInput(
        f"job {job_id} is {status}; end it with `holdfast cancel {job_id}`, then remove it"
    )


async def remove_job(db: Database, job_id: str) -> RemovedJob:
    """Delete the job's rows in all tables, and the sources that no other job quotes.

    Raises:
        NotFound: there is no such job.
        BadInput: the job has not ended.
    """
    async with db.writing() as connection:
        found = select(jobs).where(jobs.c.id == job_id).with_for_update()
        job = (await connection.execute(found)).one_or_none()
        if job is None:
            raise NotFound(f"there is no job {job_id!r}; `holdfast list` shows those there are")
        if not JobStatus(job.status).is_final:
            raise not_ended_error(job_id, job.status)
        of_job = select(evidence.c.source_id).where(evidence.c.job_id == job_id)
        quoted = set((await connection.execute(of_job)).scalars())
        await connection.execute(delete(jobs).where(jobs.c.id == job_id))
        is_quoted = select(evidence.c.id).where(evidence.c.source_id == sources.c.id).exists()
        unused = delete(sources).where(sources.c.id.in_(quoted), ~is_quoted)
        removed: CursorResult[Any] = await connection.execute(unused)
        others = select(func.count()).select_from(jobs).where(jobs.c.collection == job.collection)
        is_shared = bool((await connection.execute(others)).scalar_one())
    return RemovedJob(
        job_id=job_id,
        question=job.question,
        sources=removed.rowcount,
        unused_collection="" if is_shared else job.collection,
    )


async def ended_jobs(db: Database, older_than: timedelta) -> list[EndedJob]:
    """Return the jobs that ended before this time, the oldest first."""
    query = (
        select(jobs.c.id.label("job_id"), jobs.c.question, jobs.c.finished_at)
        .where(jobs.c.status.in_(FINAL_JOB_STATUSES), jobs.c.finished_at < func.now() - older_than)
        .order_by(jobs.c.finished_at)
    )
    async with db.reading() as connection:
        rows = (await connection.execute(query)).mappings()
        return [EndedJob.model_validate(dict(row)) for row in rows]
