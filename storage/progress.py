"""How far a job has come, in one look that costs next to nothing."""

from sqlalchemy import select

from models.base import Frozen
from models.jobs import FINAL, JobStatus, StopReason
from models.tables import jobs
from storage.database import Database, refusal


class Standing(Frozen):
    """Where a job stands: its status, and the number of the last entry of its log."""

    status: JobStatus
    stop_reason: StopReason | None
    last_event: int

    @property
    def has_ended(self) -> bool:
        return self.status in FINAL


async def standing(db: Database, job_id: str) -> Standing:
    """Where the job stands; an end and the entry that tells of it are seen together.

    Raises:
        NotFound: there is none of that id.
        StorageAway: PostgreSQL does not answer.
    """
    query = select(jobs.c.status, jobs.c.stop_reason, jobs.c.last_event).where(jobs.c.id == job_id)
    async with db.reading() as connection:
        row = (await connection.execute(query)).mappings().one_or_none()
    if row is None:
        raise refusal(job_id, None, None)
    return Standing.model_validate(dict(row))
