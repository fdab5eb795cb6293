"""Hold a scripted answer back until a test lets it go, and wait for conditions meanwhile."""

import asyncio
import threading
from collections.abc import Awaitable, Callable

from tests.support.endpoints.scripted_model import ReceivedRequest

_WITHIN_S = 90
"""Of a machine that is busy with other tests."""


class HeldAnswer:
    """Holds the model's answer back until the test lets it go; any number of times open."""

    def __init__(self, part: Callable[[ReceivedRequest], object]) -> None:
        self._part = part
        self.is_asked, self.may_answer = threading.Event(), threading.Event()

    def __call__(self, asked: ReceivedRequest) -> object:
        self.is_asked.set()
        assert self.may_answer.wait(_WITHIN_S)
        return self._part(asked)

    async def asked(self) -> None:
        assert await asyncio.to_thread(self.is_asked.wait, _WITHIN_S)


async def eventually(holds: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(_WITHIN_S):
        while not await holds():
            await asyncio.sleep(0.02)
