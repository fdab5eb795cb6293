"""Run awaitables side by side with a limit; after an error start no more and then raise it."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import TypeVar

T = TypeVar("T")


async def gather_bounded(works: Iterable[Callable[[], Awaitable[T]]], *, at_once: int) -> list[T]:
    """Return the results in order.

    After an error no further awaitable starts, and running ones finish: a cancelled call would be
    paid for twice, now and in the next attempt.

    Raises:
        Exception: the first error.
        CancelledError: a work ended with it, because Temporal has given the attempt up.
    """
    slots = asyncio.Semaphore(at_once)
    errors: list[Exception] = []

    async def one(work: Callable[[], Awaitable[T]]) -> T:
        async with slots:
            if errors:
                raise errors[0]
            try:
                return await work()
            except Exception as error:
                errors.append(error)
                raise

    # Errors are returned as values, so that a cancelled caller also waits for running ones.
    outcomes = await asyncio.gather(*(one(work) for work in works), return_exceptions=True)
    if errors:
        raise errors[0]
    results: list[T] = []
    for outcome in outcomes:
        # Left out, a cancelled work would look like one that found nothing.
        if isinstance(outcome, BaseException):
            raise outcome
        results.append(outcome)
    return results
