"""Read the model calls of a job that have no answer yet."""

from sqlalchemy import func, select

from holdfast.models.calls.call_status import CallStatus
from holdfast.models.views.status_views import WaitingCall
from holdfast.storage.core.database import Database
from holdfast.storage.core.tables.call_tables import model_calls


async def load_waiting_calls(db: Database, job_id: str) -> tuple[WaitingCall, ...]:
    """Return the model calls that were not sent, because they wait for their model.

    Raises:
        StorageAway: PostgreSQL does not answer.
    """
    query = (
        select(
            model_calls.c.task_id.label("task"),
            model_calls.c.role,
            model_calls.c.model,
            model_calls.c.error.label("why"),
            model_calls.c.waits_until.label("until"),
        )
        .where(model_calls.c.job_id == job_id, model_calls.c.status == CallStatus.FAILED.value)
        .where(model_calls.c.waits_until > func.now())
        .order_by(model_calls.c.id)
    )
    async with db.reading() as connection:
        rows = (await connection.execute(query)).mappings().all()
    return tuple(WaitingCall.model_validate(dict(row)) for row in rows)
