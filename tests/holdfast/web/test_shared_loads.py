"""Tests that tabs which an event wakes together have a job's records read once."""

import asyncio
from dataclasses import dataclass, field

import pytest

from holdfast.web.watch.shared_loads import SharedLoads


@dataclass
class CountedLoad:
    """Gives its number once the test says so."""

    begun: int = 0
    may_end: asyncio.Event = field(default_factory=asyncio.Event)

    async def __call__(self) -> int:
        self.begun += 1
        number = self.begun
        await self.may_end.wait()
        return number


async def _let_all_begin() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


async def test_requests_during_a_load_share_the_next_one() -> None:
    loads, load = SharedLoads[int](), CountedLoad()
    first = asyncio.create_task(loads.load("job", load))
    await _let_all_begin()
    later = [asyncio.create_task(loads.load("job", load)) for _ in range(5)]
    await _let_all_begin()
    begun_together = load.begun
    load.may_end.set()

    assert begun_together == 1
    assert await first == 1
    assert await asyncio.gather(*later) == [2] * 5
    assert await loads.load("job", load) == 3


async def test_jobs_and_owners_share_nothing() -> None:
    loads, load = SharedLoads[int](), CountedLoad()
    load.may_end.set()

    found = await asyncio.gather(*(loads.load(key, load) for key in ("a", ("b", "a"), "c")))

    assert sorted(found) == [1, 2, 3]


async def test_a_failed_load_and_a_cancelled_request_leave_the_next_load_alone() -> None:
    loads, load = SharedLoads[int](), CountedLoad()
    has_begun = asyncio.Event()

    async def fail() -> int:
        has_begun.set()
        await load.may_end.wait()
        raise LookupError("gone")

    failing = asyncio.create_task(loads.load("job", fail))
    await has_begun.wait()
    given_up, waiting = (asyncio.create_task(loads.load("job", load)) for _ in range(2))
    await _let_all_begin()
    given_up.cancel()
    load.may_end.set()

    with pytest.raises(LookupError):
        await failing
    assert await waiting == 1
