"""Retry a repeatable write while PostgreSQL is unavailable, with a last try on cancellation."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TypeVar

from holdfast.models.errors import StorageAway

MAX_OUTAGE_S = 86_400.0
"""The limit for callers without a time limit of their own; activities have one."""
_LAST_TRY_S = 5.0
_FIRST_PAUSE_S = 0.1
_LONGEST_PAUSE_S = 2.0

T = TypeVar("T")
U = TypeVar("U")


async def retry_until_available(
    write: Callable[[], Awaitable[T]], *, patience_s: float = MAX_OUTAGE_S
) -> T:
    """Return the result of `write`, retried while PostgreSQL is unavailable.

    `write` must be idempotent: a connection can break between a commit and its confirmation. A
    cancelled caller still gets the running try or a last one, so that an answer is not lost if it
    can be written, and the worker can stop.

    Raises:
        CancelledError: the caller was cancelled, and the last try failed as well.
        StorageAway: PostgreSQL was unavailable for longer than `patience_s`.
    """
    now = asyncio.get_running_loop().time
    given_up, pause_s = now() + patience_s, _FIRST_PAUSE_S
    while True:
        writing = asyncio.ensure_future(write())
        try:
            return await _wait_or_try_once_more(asyncio.shield(writing), writing, write)
        except StorageAway as error:
            if _is_cancelled():
                # The caller was cancelled: a failure would be recorded as the task's own.
                raise asyncio.CancelledError from error
            if now() > given_up:
                raise
        await _wait_or_try_once_more(asyncio.sleep(pause_s), writing, write)
        pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)


async def _wait_or_try_once_more(
    waiting: Awaitable[U], writing: asyncio.Future[T], write: Callable[[], Awaitable[T]]
) -> U:
    """Await the pause; raise a cancellation only after a last try."""
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
        # The try began before the server may have been back.
        await write()


def _is_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
