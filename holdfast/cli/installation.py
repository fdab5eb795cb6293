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
async def attached(*, needs_temporal: bool = True) -> AsyncIterator[Holdfast]:
    """The installation as it runs; nothing is started.

    Raises:
        ServiceDown: it does not run.
    """
    settings = load_settings()
    endpoints = await attach(settings, needs_temporal=needs_temporal)
    async with connected(settings, endpoints) as holdfast:
        yield holdfast


def ask(question: Callable[[Holdfast], Awaitable[ResultT]]) -> ResultT:
    """The answer to one question that PostgreSQL can answer, if need be without Temporal."""

    async def answer() -> ResultT:
        async with attached(needs_temporal=False) as holdfast:
            return await question(holdfast)

    return asyncio.run(answer())
