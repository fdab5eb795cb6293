"""Read the model calls of a job that have no answer yet, and their responses in the background."""

from sqlalchemy import and_, case, func, or_, select

from holdfast.models.calls.call_status import CallStatus
from holdfast.models.views.status_views import OpenCall
from holdfast.storage.core.database import Database
from holdfast.storage.core.tables.call_tables import model_calls


async def load_open_calls(db: Database, job_id: str) -> tuple[OpenCall, ...]:
    """Return the model calls that were sent, and those that wait for their model.

    Raises:
        StorageAway: PostgreSQL does not answer.
    """
    is_sent = model_calls.c.status == CallStatus.STARTED.value
    waits = and_(
        model_calls.c.status == CallStatus.FAILED.value, model_calls.c.waits_until > func.now()
    )
    query = (
        select(
            model_calls.c.task_id.label("task"),
            model_calls.c.role,
            model_calls.c.model,
            case((waits, model_calls.c.error), else_="").label("why"),
            case((waits, model_calls.c.waits_until)).label("until"),
            case((is_sent, model_calls.c.received_chars), else_=0).label("received_chars"),
        )
        .where(model_calls.c.job_id == job_id, or_(is_sent, waits))
        .order_by(model_calls.c.id)
    )
    async with db.reading() as connection:
        rows = (await connection.execute(query)).mappings().all()
    return tuple(OpenCall.model_validate(dict(row)) for row in rows)
