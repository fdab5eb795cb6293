"""Store which activity a worker ran when its event loop stood still, and count these stalls."""

from datetime import datetime

from sqlalchemy import DateTime, exists, literal, select
from sqlalchemy.dialects.postgresql import insert as upsert

from holdfast.models.jobs.activity_key import ActivityKey
from holdfast.storage.core.database import Database
from holdfast.storage.core.named_statements import load_statements
from holdfast.storage.core.tables.job_tables import jobs
from holdfast.storage.core.tables.recovery_tables import worker_stalls

_STATEMENTS = load_statements(__file__)


async def record_stall(db: Database, worker: str, key: ActivityKey, at: datetime) -> None:
    """Store the stall of a worker once; nothing happens if the job has been deleted.

    Raises:
        StorageAway: PostgreSQL does not answer.
    """
    values = [literal(each) for each in (worker, key.job_id, key.run_id, key.activity_id)]
    row = select(*values, literal(at, DateTime(timezone=True))).where(
        exists().where(jobs.c.id == key.job_id)
    )
    columns = ["worker", "job_id", "run_id", "activity_id", "stalled_at"]
    async with db.writing() as connection:
        insertion = upsert(worker_stalls).from_select(columns, row)
        await connection.execute(insertion.on_conflict_do_nothing())


async def count_stalls(db: Database, key: ActivityKey) -> int:
    """Return how many workers have stood still while they ran this activity.

    Raises:
        StorageAway: PostgreSQL does not answer.
    """
    return int((await db.row(_STATEMENTS["count_stalls"], key.model_dump())).stalls)
