"""Read the status of jobs and the numbers of their last events in one cheap query."""

from collections.abc import Collection, Mapping

from sqlalchemy import select

from holdfast.models.frozen_model import Frozen
from holdfast.models.jobs.job_record import JobStatus, StopReason
from holdfast.storage.core.database import Database, refused_write_error
from holdfast.storage.core.tables.job_tables import jobs


class JobProgress(Frozen):
    """The status of a job, and the number of the last entry of its log."""

    status: JobStatus
    stop_reason: StopReason | None
    last_event: int

    @property
    def has_ended(self) -> bool:
        return self.status.is_final


async def load_job_progress(db: Database, job_id: str) -> JobProgress:
    """Return the progress of the job; an end is visible together with its log entry.

    Raises:
        NotFound: there is no job of that id.
        StorageAway: PostgreSQL does not answer.
    """
    found = await load_progress_of_jobs(db, [job_id])
    if job_id not in found:
        raise refused_write_error(job_id, None, None)
    return found[job_id]


async def load_progress_of_jobs(
    db: Database, job_ids: Collection[str]
) -> Mapping[str, JobProgress]:
    """Return the progress of those of the jobs that exist, by the job's id.

    Raises:
        StorageAway: PostgreSQL does not answer.
    """
    query = select(jobs.c.id, jobs.c.status, jobs.c.stop_reason, jobs.c.last_event).where(
        jobs.c.id.in_(job_ids)
    )
    async with db.reading() as connection:
        rows = (await connection.execute(query)).all()
    return {
        each.id: JobProgress(
            status=each.status, stop_reason=each.stop_reason, last_event=each.last_event
        )
        for each in rows
    }
