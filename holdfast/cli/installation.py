"""Reaching the installation that a command is about."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

from holdfast.client import Holdfast, connected
from holdfast.services.lifecycle import attach
from holdfast.settings import load_settings

ResultT = TypeVar("ResultT")


@asynccontextmanager
async def attached() -> AsyncIterator[Holdfast]:
    """The installation as it runs; nothing is started.

    Raises:
        ServiceDown: it does not run.
    """
    settings = load_settings()
    async with connected(settings, await attach(settings)) as holdfast:
        yield holdfast


def ask(question: Callable[[Holdfast], Awaitable[ResultT]]) -> ResultT:
    """The answer to one question to the installation."""

    async def answer() -> ResultT:
        async with attached() as holdfast:
            return await question(holdfast)

    return asyncio.run(answer())
