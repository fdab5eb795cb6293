"""Paid work side by side, of which nothing is left behind when a part of it fails."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import TypeVar

T = TypeVar("T")


async def side_by_side(works: Iterable[Callable[[], Awaitable[T]]], *, at_once: int) -> list[T]:
    """What each of them gives, in their order.

    After an error none begins any more, and those under way come to their end: left alone, each
    would be paid for twice, by itself and by the attempt that follows.

    Raises:
        Exception: the first error.
    """
    gate = asyncio.Semaphore(at_once)
    errors: list[Exception] = []

    async def one(work: Callable[[], Awaitable[T]]) -> T:
        async with gate:
            if errors:
                raise errors[0]
            try:
                return await work()
            except Exception as error:
                errors.append(error)
                raise

    # With their errors as values: whoever is cancelled waits, too, until each has let go.
    outcomes = await asyncio.gather(*(one(work) for work in works), return_exceptions=True)
    if errors:
        raise errors[0]
    return [each for each in outcomes if not isinstance(each, BaseException)]
