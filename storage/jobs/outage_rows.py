"""Note that all services are there, and give people the time back that an outage took.

A worker notes every few seconds that it has seen PostgreSQL and Temporal. A longer silence was an
outage, of a worker or of a server, or the machine slept: it is stored, and the deadlines of open
questions move by it. The times are PostgreSQL's own. A clock that jumps ahead looks like an outage
and moves the deadlines along; one that jumps back moves nothing.
"""

from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Row, func, insert, select, update
from sqlalchemy.dialects.postgresql import insert as upsert
from sqlalchemy.ext.asyncio import AsyncConnection

from holdfast.models.questions.user_questions import QuestionStatus
from holdfast.storage.core.database import Database
from holdfast.storage.core.named_statements import load_statements
from holdfast.storage.core.tables.outage_tables import outages, service_presence
from holdfast.storage.core.tables.question_tables import questions

_STATEMENTS = load_statements(__file__)

PRESENCE_INTERVAL = timedelta(seconds=5)
MAX_SILENCE = 3 * PRESENCE_INTERVAL
"""A longer silence is an outage; a busy machine is late now and then."""


async def note_services_present(db: Database) -> timedelta | None:
    """Note that worker, PostgreSQL and Temporal are there; return how long an outage was, or None.

    Raises:
        StorageAway: PostgreSQL does not answer.
    """
    if (
        await db.row(_STATEMENTS["note_presence"], {"max_silence_s": MAX_SILENCE.total_seconds()})
        is not None
    ):
        return None
    async with db.writing() as connection:
        seen = await _lock_presence(connection)
        silence: timedelta = seen.now - seen.seen_at
        await connection.execute(update(service_presence).values(seen_at=seen.now))
        if silence <= MAX_SILENCE:
            return None
        row = {"began_at": seen.seen_at, "ended_at": seen.now}
        await connection.execute(insert(outages).values(row))
        await _move_deadlines(connection, seen.seen_at, seen.now)
        return silence


async def _lock_presence(connection: AsyncConnection) -> Row[Any, Any]:
    """Lock the row, so that of several workers one stores the outage; make it if there is none."""
    query = select(service_presence.c.seen_at, func.clock_timestamp().label("now"))
    found = (await connection.execute(query.with_for_update())).one_or_none()
    if found is None:
        await connection.execute(upsert(service_presence).values(id=1).on_conflict_do_nothing())
        found = (await connection.execute(query.with_for_update())).one()
    row: Row[Any, Any] = found
    return row


async def _move_deadlines(
    connection: AsyncConnection, began_at: datetime, ended_at: datetime
) -> None:
    """Move the deadlines that had not passed when the outage began."""
    lost = ended_at - func.greatest(questions.c.asked_at, began_at)
    await connection.execute(
        update(questions)
        .where(questions.c.status == QuestionStatus.OPEN.value)
        .where(questions.c.deadline > began_at, questions.c.asked_at < ended_at)
        .values(deadline=questions.c.deadline + lost)
    )
