"""Note in a job's log that its calls wait for a model, once until the wait is over."""

from datetime import UTC, datetime

from sqlalchemy import select

from holdfast.models.wire.event_kinds import EventKind
from holdfast.storage.core.database import Database
from holdfast.storage.core.tables.job_tables import events


async def note_model_wait(
    db: Database, job_id: str, epoch: int, task_id: str, *, model: str, why: str, until: datetime
) -> None:
    """Note that a call of the task waits for the model, unless an entry says so until later.

    Raises:
        StaleEpoch: a newer run has taken over.
        StorageAway: PostgreSQL does not answer.
    """
    noted = select(events.c.seq).where(
        events.c.job_id == job_id,
        events.c.kind == EventKind.MODEL_AWAITED.value,
        events.c.facts["model"].as_string() == model,
        events.c.facts["until"].as_string() > datetime.now(UTC).isoformat(),
    )
    async with db.job(job_id, epoch) as write:
        if (await write.connection.execute(noted.limit(1))).one_or_none() is None:
            utc = until.astimezone(UTC).isoformat()
            write.event(EventKind.MODEL_AWAITED, task_id, model=model, why=why, until=utc)
