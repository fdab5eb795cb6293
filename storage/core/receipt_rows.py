"""Find and store receipts, so that a repeated activity returns its recorded result."""

from datetime import timedelta
from typing import TypeVar

from pydantic import BaseModel, JsonValue
from sqlalchemy import insert, select
from sqlalchemy.ext.asyncio import AsyncConnection

from holdfast.models.errors import Overtaken
from holdfast.models.jobs.activity_orders import RunOrder
from holdfast.models.wire import earlier_receipts, stored_keys
from holdfast.storage.core.database import Database, JobTransaction
from holdfast.storage.core.event_marks import refuse_if_behind
from holdfast.storage.core.tables.job_tables import receipts

ReceiptT = TypeVar("ReceiptT", bound=BaseModel)


async def find_receipt(
    db: Database, order: RunOrder, key: str, kind: type[ReceiptT]
) -> ReceiptT | None:
    """Return the receipt under `key`, of the job or of this run, or None.

    A receipt that an earlier release kept under another key is found as well.

    Raises:
        StateBehind: there is no receipt, and PostgreSQL lacks what the run has seen.
    """
    async with db.reading() as connection:
        body = await _find_body(connection, order.job_id, order.epoch, key)
    if body is not None:
        return kind.model_validate(body, extra="ignore")
    await refuse_if_behind(db, order)
    return None


async def refuse_overtaken(db: Database, order: RunOrder, key: str) -> None:
    """Raise an error if another attempt has recorded this work by now.

    What an attempt reads after it has looked for its receipt may have been written by another
    attempt at the same work. A check after the reading tells: the writes and the receipt are one
    transaction.

    Raises:
        Overtaken: the work is recorded.
    """
    async with db.reading() as connection:
        if await _find_body(connection, order.job_id, order.epoch, key) is not None:
            raise _overtaken()


async def refuse_second_receipt(write: JobTransaction, key: str) -> None:
    """Raise an error if another attempt has recorded this work; the job must be locked.

    Needed if other rows of the work would clash before its receipt does, and if one attempt keeps a
    receipt of the job and another a receipt of this run.

    Raises:
        Overtaken: the work is recorded.
    """
    if await _find_body(write.connection, write.job_id, write.held.epoch, key) is not None:
        raise _overtaken()


async def keep_receipt(write: JobTransaction, key: str, receipt: BaseModel) -> None:
    """Store the receipt in the transaction that does the work."""
    row = {"job_id": write.job_id, "key": key, "body": receipt.model_dump(mode="json")}
    await write.connection.execute(insert(receipts).values(row))


def _overtaken() -> Overtaken:
    return Overtaken("another attempt was stored first", after=timedelta(milliseconds=1))


async def _find_body(
    connection: AsyncConnection, job_id: str, epoch: int, key: str
) -> dict[str, JsonValue] | None:
    keys = (key, stored_keys.receipt_key_of_run(key, epoch), *earlier_receipts.earlier_keys(key))
    query = select(receipts.c.key, receipts.c.body).where(
        receipts.c.job_id == job_id, receipts.c.key.in_(keys)
    )
    bodies = {row.key: row.body for row in await connection.execute(query)}
    found = [(each, bodies[each]) for each in keys if each in bodies]
    return next(
        (body for each, body in found if earlier_receipts.is_receipt_under(each, key, body)), None
    )
