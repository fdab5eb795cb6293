"""Remove an ended job with everything that only this job needs."""

from sqlalchemy import delete, func, literal, null, select, union_all, update
from sqlalchemy.ext.asyncio import AsyncConnection

from holdfast.models.errors import BadInput, NotFound
from holdfast.models.frozen_model import Frozen
from holdfast.models.jobs.job_record import JobStatus
from holdfast.models.wire.call_places import comparison_label
from holdfast.models.wire.role_names import RoleName
from holdfast.storage.core.database import Database
from holdfast.storage.core.tables.all_tables import metadata
from holdfast.storage.core.tables.call_tables import model_calls
from holdfast.storage.core.tables.evidence_tables import evidence, source_checks
from holdfast.storage.core.tables.job_tables import jobs
from holdfast.storage.core.tables.schedule_tables import schedule_runs
from holdfast.storage.evidence.source_removal import (
    RemovedSources,
    remove_unused_sources,
    sources_of_job,
)

TABLES_OF_JOBS = tuple(
    table for table in metadata.sorted_tables if "job_id" in table.c and table is not schedule_runs
)
"""The rows of these tables go with the row of their job; a run of a schedule stays and counts."""


class RemovedJob(Frozen):
    """A removed job, and what else was removed or stays."""

    job_id: str
    question: str
    sources: int
    """The stored texts that only this job read, which are removed as well."""
    unused_collection: str = ""
    """The job's collection if no other job uses it; it stays, because its user may have made it."""


def not_ended_error(job_id: str, status: str) -> BadInput:
    """Return the error for a job that cannot be removed yet."""
    return BadInput(
        f"job {job_id} is {status}; end it with `holdfast cancel {job_id}`, then remove it"
    )


async def remove_job(db: Database, job_id: str) -> RemovedJob:
    """Delete the job's rows in all tables, and the sources that no other job has read.

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
        removed = await delete_job(connection, job_id)
        others = select(func.count()).select_from(jobs).where(jobs.c.collection == job.collection)
        is_shared = bool((await connection.execute(others)).scalar_one())
    return RemovedJob(
        job_id=job_id,
        question=job.question,
        sources=removed.removed,
        unused_collection="" if is_shared else job.collection,
    )


async def delete_job(connection: AsyncConnection, job_id: str) -> RemovedSources:
    """Delete the job's row, with which its rows in all tables go, and its own sources.

    The run of a schedule that asked for the job stays, without what it says about the report.
    Comparisons of other jobs with this one go, because their requests quote its report.
    """
    read = await sources_of_job(connection, job_id)
    of_run = update(schedule_runs).where(schedule_runs.c.job_id == job_id)
    await connection.execute(of_run.values(changes=null()))
    label = comparison_label(job_id)
    compared = delete(model_calls).where(
        model_calls.c.role == RoleName.CLAIM_MATCHER.value, model_calls.c.task_id == label
    )
    await connection.execute(compared)
    await connection.execute(delete(jobs).where(jobs.c.id == job_id))
    return await remove_unused_sources(connection, read)


async def count_rows_of_job(connection: AsyncConnection, job_id: str) -> dict[str, int]:
    """Return how many rows the job has, by table; tables without any are left out."""
    counts = [
        select(literal(table.name).label("name"), func.count().label("rows"))
        .select_from(table)
        .where(table.c.job_id == job_id)
        for table in TABLES_OF_JOBS
    ]
    counts.append(
        select(literal(source_checks.name), func.count())
        .select_from(source_checks.join(evidence))
        .where(evidence.c.job_id == job_id)
    )
    counts.append(
        select(literal(jobs.name), func.count()).select_from(jobs).where(jobs.c.id == job_id)
    )
    rows = (await connection.execute(union_all(*counts))).all()
    return {str(name): int(count) for name, count in rows if count}
