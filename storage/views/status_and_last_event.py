"""Read a job's status and the number of its last event in one cheap query."""

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
    query = select(jobs.c.status, jobs.c.stop_reason, jobs.c.last_event).where(jobs.c.id == job_id)
    async with db.reading() as connection:
        row = (await connection.execute(query)).mappings().one_or_none()
    if row is None:
        raise refused_write_error(job_id, None, None)
    return JobProgress.model_validate(dict(row))
