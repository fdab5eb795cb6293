"""Tests that a result is computed once for all who ask for it, and that errors are not kept."""

import asyncio

import pytest

from holdfast.activities.runtime.shared_results import SharedResults


class Source:
    """A computation that the test lets end, and that counts its runs."""

    def __init__(self) -> None:
        self.runs = 0
        self.may_end = asyncio.Event()
        self.error: Exception | None = None

    async def compute(self) -> int:
        self.runs += 1
        run = self.runs
        await self.may_end.wait()
        if self.error is not None:
            raise self.error
        return run


async def test_callers_at_the_same_time_and_later_share_one_computation() -> None:
    source, results = Source(), SharedResults[str, int](2)
    callers = [asyncio.create_task(results.of("key", source.compute)) for _ in range(3)]
    await asyncio.sleep(0)
    source.may_end.set()

    assert [*await asyncio.gather(*callers), await results.of("key", source.compute)] == [1] * 4


async def test_after_an_error_the_next_caller_computes_again() -> None:
    source, results = Source(), SharedResults[str, int](2)
    source.may_end.set()
    source.error = ValueError("away")
    with pytest.raises(ValueError, match="away"):
        await results.of("key", source.compute)

    source.error = None

    assert await results.of("key", source.compute) == 2


async def test_a_cancelled_caller_does_not_end_the_computation_of_the_others() -> None:
    source, results = Source(), SharedResults[str, int](2)
    first, second = (asyncio.create_task(results.of("key", source.compute)) for _ in range(2))
    await asyncio.sleep(0)

    first.cancel()
    await asyncio.gather(first, return_exceptions=True)
    source.may_end.set()

    assert await second == 1


async def test_the_oldest_key_makes_room() -> None:
    source, results = Source(), SharedResults[str, int](2)
    source.may_end.set()

    runs = [await results.of(key, source.compute) for key in ("a", "b", "c", "b", "a")]

    assert runs == [1, 2, 3, 2, 4]
