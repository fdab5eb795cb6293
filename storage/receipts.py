"""Receipts: what an activity left, so that running it again gives the same and does nothing."""

from typing import TypeVar

from pydantic import BaseModel
from sqlalchemy import insert, select

from models.tables import receipts
from storage.database import Database, JobWrite

ReceiptT = TypeVar("ReceiptT", bound=BaseModel)


async def find(db: Database, job_id: str, key: str, kind: type[ReceiptT]) -> ReceiptT | None:
    """The receipt under `key`, if the work was finished before."""
    query = select(receipts.c.body).where(receipts.c.job_id == job_id, receipts.c.key == key)
    async with db.reading() as connection:
        body = (await connection.execute(query)).scalar_one_or_none()
    return None if body is None else kind.model_validate(body)


async def keep(write: JobWrite, key: str, receipt: BaseModel) -> None:
    """Store the receipt in the transaction that does the work."""
    row = {"job_id": write.job_id, "key": key, "body": receipt.model_dump(mode="json")}
    await write.connection.execute(insert(receipts).values(row))
