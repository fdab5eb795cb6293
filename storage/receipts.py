"""Receipts: what an activity left, so that running it again gives the same and does nothing."""

from datetime import timedelta
from typing import TypeVar

from pydantic import BaseModel
from sqlalchemy import insert, select

from models.errors import Overtaken
from models.orders import RunOrder
from models.tables import receipts
from storage.database import Database, JobWrite

ReceiptT = TypeVar("ReceiptT", bound=BaseModel)


def of_run(key: str, epoch: int) -> str:
    """The key of a receipt that counts for one workflow run and not for the next."""
    return f"{key}@{epoch}"


async def find(db: Database, order: RunOrder, key: str, kind: type[ReceiptT]) -> ReceiptT | None:
    """The receipt under `key`, of any run or of this one, if the work was finished before."""
    keys = (key, of_run(key, order.epoch))
    query = select(receipts.c.body).where(
        receipts.c.job_id == order.job_id, receipts.c.key.in_(keys)
    )
    async with db.reading() as connection:
        body = (await connection.execute(query)).scalar_one_or_none()
    return None if body is None else kind.model_validate(body)


async def not_yet(write: JobWrite, key: str) -> None:
    """Make sure, with the job locked, that nobody has done this work since it was begun.

    For work whose other rows would clash before its receipt does.

    Raises:
        Overtaken: it is done.
    """
    query = select(receipts.c.key).where(receipts.c.job_id == write.job_id, receipts.c.key == key)
    if (await write.connection.execute(query)).first() is not None:
        raise Overtaken("another attempt was stored first", after=timedelta(milliseconds=1))


async def keep(write: JobWrite, key: str, receipt: BaseModel) -> None:
    """Store the receipt in the transaction that does the work."""
    row = {"job_id": write.job_id, "key": key, "body": receipt.model_dump(mode="json")}
    await write.connection.execute(insert(receipts).values(row))
