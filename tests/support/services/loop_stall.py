"""Measure the longest time that one turn of the running event loop occupies it."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tests.support.services.processor_time import known_machine_s

_BEAT_S = 0.005


class LoopStall:
    """The longest turn so far, in processor seconds of this process.

    Time of the process and not of the thread: a thread that keeps the interpreter's lock stops the
    loop as well.
    """

    def __init__(self) -> None:
        self._longest_s = 0.0
        self._seen_s = time.process_time()

    @property
    def longest_s(self) -> float:
        """What the turn would have taken on the machine on which the limits were set."""
        return known_machine_s(self._longest_s)

    def beat(self) -> None:
        now = time.process_time()
        self._longest_s = max(self._longest_s, now - self._seen_s)
        self._seen_s = now


@asynccontextmanager
async def measured_stall() -> AsyncIterator[LoopStall]:
    """Yield the stall of the running loop, measured until the block ends."""
    stall = LoopStall()

    async def beat() -> None:
        while True:
            await asyncio.sleep(_BEAT_S)
            stall.beat()

    task = asyncio.create_task(beat())
    try:
        yield stall
    finally:
        task.cancel()
        stall.beat()
