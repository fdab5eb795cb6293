"""Store, find and delete responses."""

from sqlalchemy import delete, select
from sqlalchemy.dialects.postgresql import insert

from holdfast.models.responses.stored_response import ClientRequest, StoredResponse
from holdfast.storage.core.database import Database
from holdfast.storage.core.tables.response_tables import responses


async def store_response(
    db: Database, response_id: str, job_id: str, after: int, request: ClientRequest
) -> StoredResponse:
    """Store the response once; return the stored one, which may be of an earlier request."""
    statement = insert(responses).values(
        id=response_id, job_id=job_id, after=after, request=request.model_dump(mode="json")
    )
    async with db.writing() as connection:
        await connection.execute(statement.on_conflict_do_nothing())
    stored = await find_response(db, response_id)
    assert stored is not None, "responses are removed only by their clients"
    return stored


async def find_response(db: Database, response_id: str) -> StoredResponse | None:
    """Return the response; None if there is none of that id."""
    query = select(responses).where(responses.c.id == response_id)
    async with db.reading() as connection:
        row = (await connection.execute(query)).mappings().one_or_none()
    return None if row is None else StoredResponse.model_validate(dict(row))


async def delete_response(db: Database, response_id: str) -> None:
    """Delete the response; its job stays."""
    async with db.writing() as connection:
        await connection.execute(delete(responses).where(responses.c.id == response_id))
