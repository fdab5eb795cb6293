"""Counts what goes to PostgreSQL through SQLAlchemy, and the time that it takes."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from sqlalchemy import event
from sqlalchemy.ext.asyncio import AsyncEngine


@dataclass
class Counted:
    """What was seen since counting began."""

    statements: int = 0
    checkouts: int = 0
    begins: int = 0
    seconds: float = 0.0
    _began: float = 0.0

    def before(self, *_facts: object) -> None:
        self._began = time.perf_counter()

    def after(self, *_facts: object) -> None:
        self.statements += 1
        # Exact while one task runs at a time, as in a chain.
        self.seconds += time.perf_counter() - self._began

    def checkout(self, *_facts: object) -> None:
        self.checkouts += 1

    def begin(self, *_facts: object) -> None:
        self.begins += 1


@contextmanager
def counting(engine: AsyncEngine) -> Iterator[Counted]:
    """Counts until the end of the block."""
    counted, inner = Counted(), engine.sync_engine
    listeners = (
        (inner, "before_cursor_execute", counted.before),
        (inner, "after_cursor_execute", counted.after),
        (inner, "begin", counted.begin),
        (inner.pool, "checkout", counted.checkout),
    )
    for target, name, listener in listeners:
        event.listen(target, name, listener)
    try:
        yield counted
    finally:
        for target, name, listener in listeners:
            event.remove(target, name, listener)
