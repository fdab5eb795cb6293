"""Find and store receipts, so that a repeated activity returns its recorded result."""

from datetime import timedelta
from typing import TypeVar

from pydantic import BaseModel, JsonValue
from sqlalchemy import Select, insert, select

from holdfast.models.errors import Overtaken
from holdfast.models.jobs.activity_orders import RunOrder
from holdfast.models.wire import stored_keys
from holdfast.storage.core.database import Database, JobTransaction
from holdfast.storage.core.tables.job_tables import receipts

ReceiptT = TypeVar("ReceiptT", bound=BaseModel)


async def find_receipt(
    db: Database, order: RunOrder, key: str, kind: type[ReceiptT]
) -> ReceiptT | None:
    """Return the receipt under `key`, of the job or of this run, or None."""
    async with db.reading() as connection:
        query = _receipt_query(order.job_id, order.epoch, key)
        body = (await connection.execute(query)).scalar_one_or_none()
    return None if body is None else kind.model_validate(body)


async def refuse_second_receipt(write: JobTransaction, key: str) -> None:
    """Raise an error if another attempt has recorded this work; the job must be locked.

    Needed if other rows of the work would clash before its receipt does, and if one attempt keeps a
    receipt of the job and another a receipt of this run.

    Raises:
        Overtaken: the work is recorded.
    """
    query = _receipt_query(write.job_id, write.held.epoch, key)
    if (await write.connection.execute(query)).first() is not None:
        raise Overtaken("another attempt was stored first", after=timedelta(milliseconds=1))


async def keep_receipt(write: JobTransaction, key: str, receipt: BaseModel) -> None:
    """Store the receipt in the transaction that does the work."""
    row = {"job_id": write.job_id, "key": key, "body": receipt.model_dump(mode="json")}
    await write.connection.execute(insert(receipts).values(row))


def _receipt_query(job_id: str, epoch: int, key: str) -> Select[tuple[JsonValue]]:
    keys = (key, stored_keys.receipt_key_of_run(key, epoch))
    return select(receipts.c.body).where(receipts.c.job_id == job_id, receipts.c.key.in_(keys))
