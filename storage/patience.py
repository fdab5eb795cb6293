"""Waiting for PostgreSQL to come back, with what must not be lost meanwhile."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from models.errors import StorageAway

_PATIENCE_S = 300.0
"""An activity is bounded by its own time limit; this bounds whoever has none."""
_FIRST_PAUSE_S = 0.1
_LONGEST_PAUSE_S = 2.0

T = TypeVar("T")


async def until_back(write: Callable[[], Awaitable[T]], *, patience_s: float = _PATIENCE_S) -> T:
    """What `write` gives, tried again while PostgreSQL is away.

    `write` must come to the same when it is run twice: a connection can break between a commit and
    the word of it. Whoever was cancelled gets a single try, so that a worker can stop.

    Raises:
        StorageAway: PostgreSQL stayed away for longer than `patience_s`.
    """
    now = asyncio.get_running_loop().time
    given_up, pause_s = now() + patience_s, _FIRST_PAUSE_S
    while True:
        try:
            return await write()
        except StorageAway:
            if _is_cancelled() or now() > given_up:
                raise
        await asyncio.sleep(pause_s)
        pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)


def _is_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
