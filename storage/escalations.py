"""What people decide about results that the verifier could not accept by itself."""

from sqlalchemy import func, select, update

from models.tables import verifications
from models.verification import Completeness, Recommendation
from storage.database import JobWrite


async def accept_result(write: JobWrite, task_id: str) -> None:
    """Let the last verdict on the task be that it is complete, because somebody said so."""
    mine = (verifications.c.job_id == write.job_id) & (verifications.c.task_id == task_id)
    last = select(func.max(verifications.c.iteration)).where(mine).scalar_subquery()
    await write.connection.execute(
        update(verifications)
        .where(mine, verifications.c.iteration == last)
        .values(status=Completeness.COMPLETE.value, recommendation=Recommendation.ACCEPT.value)
    )
