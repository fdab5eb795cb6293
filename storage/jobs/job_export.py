"""Read every row of a job's record, as one moment of the database."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncConnection

from holdfast.storage.core.database import Database
from holdfast.storage.jobs.exported_tables import EXPORTED_TABLES, rows_of_job

ExportedRow = dict[str, Any]
"""The columns of a row by name."""


@dataclass(frozen=True)
class JobSnapshot:
    """The rows of one job, which do not change while they are read."""

    connection: AsyncConnection
    job_id: str

    async def rows(self, table_name: str) -> list[ExportedRow]:
        """Return the job's rows of the table in the order of its key."""
        table = EXPORTED_TABLES[table_name]
        query = select(table).where(rows_of_job(table, self.job_id))
        query = query.order_by(*table.primary_key.columns)
        rows = (await self.connection.execute(query)).mappings()
        return [dict(row) for row in rows]


@asynccontextmanager
async def open_job_snapshot(db: Database, job_id: str) -> AsyncIterator[JobSnapshot]:
    """Open a read of all tables at one moment.

    Raises:
        StorageAway: PostgreSQL does not answer.
    """
    async with db.reading() as connection:
        await connection.execution_options(isolation_level="REPEATABLE READ")
        yield JobSnapshot(connection, job_id)
