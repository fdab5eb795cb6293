"""Read the newest entry of a job's log, and compare PostgreSQL with what a run has seen."""

from sqlalchemy import select, text

from holdfast.models.jobs.activity_orders import RunOrder
from holdfast.models.jobs.event_mark import EventMark
from holdfast.storage.core.database import Database, has_event, refused_write_error
from holdfast.storage.core.tables.job_tables import events, jobs

_TABLES_IN_USE = text(
    "select pg_postmaster_start_time()::text || pg_relation_filenode('jobs'::regclass)::text"
)


async def tables_in_use(db: Database) -> str:
    """Return a name of the running server and its tables; a restored PostgreSQL has another."""
    async with db.reading() as connection:
        return str((await connection.execute(_TABLES_IN_USE)).scalar_one())


async def newest_event(db: Database, job_id: str) -> EventMark | None:
    """Return the mark of the newest entry of the job's log."""
    query = select(events.c.seq, events.c.at).where(events.c.job_id == job_id)
    newest_first = query.order_by(events.c.seq.desc()).limit(1)
    async with db.reading() as connection:
        row = (await connection.execute(newest_first)).one_or_none()
    return None if row is None else EventMark(number=row.seq, at=row.at)


async def refuse_if_behind(db: Database, order: RunOrder) -> None:
    """Raise an error if PostgreSQL lacks what the run has seen.

    Raises:
        NotFound: PostgreSQL does not have the job.
        StateBehind: PostgreSQL was restored from a backup.
    """
    has_seen = has_event(order.job_id, order.seen).label("has_seen")
    query = select(jobs.c.epoch, has_seen).where(jobs.c.id == order.job_id)
    async with db.reading() as connection:
        row = (await connection.execute(query)).one_or_none()
    if row is None or row.epoch < order.epoch or not row.has_seen:
        raise refused_write_error(order.job_id, None if row is None else row.epoch, order.epoch)
