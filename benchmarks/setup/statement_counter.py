"""Count the SQL statements that reach PostgreSQL, through SQLAlchemy or psycopg, and the time they
take."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from psycopg import AsyncCursor
from sqlalchemy import event
from sqlalchemy.ext.asyncio import AsyncEngine


@dataclass
class StatementCounts:
    """What was seen since counting began."""

    statements: int = 0
    through_sqlalchemy: int = 0
    checkouts: int = 0
    seconds: float = 0.0

    def statement(self, *_facts: object) -> None:
        self.through_sqlalchemy += 1

    def checkout(self, *_facts: object) -> None:
        self.checkouts += 1


@contextmanager
def count_statements(engine: AsyncEngine) -> Iterator[StatementCounts]:
    """Counts until the end of the block."""
    counted, inner = StatementCounts(), engine.sync_engine
    listeners = (
        (inner, "before_cursor_execute", counted.statement),
        (inner.pool, "checkout", counted.checkout),
    )
    for target, name, listener in listeners:
        event.listen(target, name, listener)
    try:
        with _timed(counted):
            yield counted
    finally:
        for target, name, listener in listeners:
            event.remove(target, name, listener)


@contextmanager
def _timed(counted: StatementCounts) -> Iterator[None]:
    """Both ways end at the driver's cursor, so it is there that statements are counted."""
    execute = AsyncCursor.execute

    async def timed(cursor: Any, *statement: Any, **options: Any) -> Any:  # noqa: ANN401 - passes all on
        began = time.perf_counter()
        found = await execute(cursor, *statement, **options)
        counted.statements += 1
        # Exact while one task runs at a time, as in a chain.
        counted.seconds += time.perf_counter() - began
        return found

    AsyncCursor.execute = timed  # type: ignore[method-assign]
    try:
        yield
    finally:
        AsyncCursor.execute = execute  # type: ignore[method-assign]
