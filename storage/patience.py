"""Waiting for PostgreSQL to come back, with what must not be lost meanwhile."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TypeVar

from models.errors import StorageAway

LONGEST_OUTAGE_S = 86_400.0
"""An activity is bounded by its own time limit; this bounds whoever has none."""
_LAST_TRY_S = 5.0
_FIRST_PAUSE_S = 0.1
_LONGEST_PAUSE_S = 2.0

T = TypeVar("T")
U = TypeVar("U")


async def until_back(
    write: Callable[[], Awaitable[T]], *, patience_s: float = LONGEST_OUTAGE_S
) -> T:
    """What `write` gives, tried again while PostgreSQL is away.

    `write` must come to the same when it is run twice: a connection can break between a commit and
    the word of it. Whoever is cancelled gets the try under way or a last one, so that what is held
    is not lost where it can be written, and a worker can stop.

    Raises:
        CancelledError: it was cancelled, and PostgreSQL stayed away in the last try.
        StorageAway: PostgreSQL stayed away for longer than `patience_s`.
    """
    now = asyncio.get_running_loop().time
    given_up, pause_s = now() + patience_s, _FIRST_PAUSE_S
    while True:
        writing = asyncio.ensure_future(write())
        try:
            return await _unless_cancelled(asyncio.shield(writing), writing, write)
        except StorageAway as error:
            if _is_cancelled():
                # As it was asked to end; a failure would be recorded as the task's own.
                raise asyncio.CancelledError from error
            if now() > given_up:
                raise
        await _unless_cancelled(asyncio.sleep(pause_s), writing, write)
        pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)


async def _unless_cancelled(
    waiting: Awaitable[U], writing: asyncio.Future[T], write: Callable[[], Awaitable[T]]
) -> U:
    """What is waited for; a cancellation comes only after the last try."""
    try:
        return await waiting
    except asyncio.CancelledError:
        with suppress(StorageAway, TimeoutError):
            async with asyncio.timeout(_LAST_TRY_S):
                await _last_try(writing, write)
        raise


async def _last_try(writing: asyncio.Future[T], write: Callable[[], Awaitable[T]]) -> None:
    try:
        await writing
    except StorageAway:
        # It was begun before the server may have come back.
        await write()


def _is_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
