"""Let one process at a time erase the jobs whose time is over."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from sqlalchemy import text

from holdfast.storage.core.database import Database

_CLAIM = text("select pg_try_advisory_xact_lock(hashtextextended('holdfast retention', 0))")


@asynccontextmanager
async def retention_turn(db: Database) -> AsyncIterator[bool]:
    """Hold the turn within the block; False: another process has it.

    Raises:
        StorageAway: PostgreSQL does not answer.
    """
    async with db.writing() as connection:
        yield bool((await connection.execute(_CLAIM)).scalar_one())
