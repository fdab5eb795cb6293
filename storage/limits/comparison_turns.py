"""Let one process at a time ask a model about the claims of the same two jobs."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from sqlalchemy import text

from holdfast.storage.core.database import Database

_CLAIM = text("select pg_try_advisory_xact_lock(hashtextextended('holdfast compare ' || :jobs, 0))")


@asynccontextmanager
async def comparison_turn(db: Database, first: str, second: str) -> AsyncIterator[bool]:
    """Hold the turn within the block; False: another request compares these two jobs.

    Raises:
        StorageAway: PostgreSQL does not answer.
    """
    async with db.writing() as connection:
        claimed = await connection.execute(_CLAIM, {"jobs": f"{first} {second}"})
        yield bool(claimed.scalar_one())
