"""Compute the result of a key once, also if several activities ask for it at the same time."""

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

KeyT = TypeVar("KeyT", bound=Hashable)
ResultT = TypeVar("ResultT")


class SharedResults(Generic[KeyT, ResultT]):
    """The results of at most `limit` keys; the oldest key leaves first. Errors are not kept."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._results: dict[KeyT, asyncio.Future[ResultT]] = {}

    async def of(self, key: KeyT, compute: Callable[[], Awaitable[ResultT]]) -> ResultT:
        """Return the result of `key`, from `compute` if there is none.

        A caller that is cancelled does not end the computation for the others.
        """
        if key not in self._results:
            if len(self._results) >= self._limit:
                self._results.pop(next(iter(self._results)))
            self._results[key] = asyncio.ensure_future(compute())
        result = self._results[key]
        try:
            return await asyncio.shield(result)
        except BaseException:
            is_broken = result.done() and (result.cancelled() or result.exception() is not None)
            if is_broken and self._results.get(key) is result:
                del self._results[key]
            raise
