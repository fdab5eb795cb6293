"""Let one process at a time do a work that must not be done twice at once."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from sqlalchemy import text

from holdfast.storage.core.database import Database

_CLAIM = text("select pg_try_advisory_xact_lock(hashtextextended('holdfast ' || :work, 0))")


@asynccontextmanager
async def exclusive_turn(db: Database, work: str) -> AsyncIterator[bool]:
    """Hold the turn for the work within the block; False: another process has it.

    The turn ends with the block, or with the process.

    Raises:
        StorageAway: PostgreSQL does not answer.
    """
    # The lock belongs to the transaction, which stays open until the end of the block.
    async with db.writing() as connection:
        yield bool(await connection.scalar(_CLAIM, {"work": work}))
