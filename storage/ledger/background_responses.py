"""Read and forget the responses in the background that a job leaves behind when it ends."""

from sqlalchemy import select, update

from holdfast.models.calls.call_status import CallStatus
from holdfast.models.frozen_model import Frozen
from holdfast.storage.core.database import Database
from holdfast.storage.core.tables.call_tables import model_calls


class BackgroundResponse(Frozen):
    """A response that an endpoint makes in the background, for a call without an answer."""

    call_id: int
    model: str
    response_id: str


async def unanswered_responses(db: Database, job_id: str) -> tuple[BackgroundResponse, ...]:
    """Return the responses that the job's calls without an answer wait for.

    Raises:
        StorageAway: PostgreSQL does not answer.
    """
    query = (
        select(model_calls.c.id.label("call_id"), model_calls.c.model, model_calls.c.response_id)
        .where(model_calls.c.job_id == job_id, model_calls.c.response_id.is_not(None))
        .where(model_calls.c.status != CallStatus.DONE.value)
        .order_by(model_calls.c.id)
    )
    async with db.reading() as connection:
        rows = (await connection.execute(query)).mappings().all()
    return tuple(BackgroundResponse.model_validate(dict(row)) for row in rows)


async def forget_response(db: Database, response: BackgroundResponse) -> None:
    """Record that a cancelled response will never come.

    Raises:
        StorageAway: PostgreSQL does not answer.
    """
    of_call = (
        model_calls.c.id == response.call_id,
        model_calls.c.response_id == response.response_id,
    )
    async with db.writing() as connection:
        await connection.execute(update(model_calls).where(*of_call).values(response_id=None))
