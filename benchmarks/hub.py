"""What a tool call costs through the hub, beside the same call of a bare `mcp` client."""

import asyncio
import statistics
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta

from mcp import Client, StdioServerParameters

from benchmarks.figures import Figure, interleaved, ratio
from benchmarks.small_tool import server
from tests.support.hosting import Hosted
from tools.config import HttpServer, ServerConfig, StdioServer
from tools.hub import Hub
from tools.place import BuiltinServer

CALLS = 200
AIM = 1.5
"""The most that calls should take of the bare client's time: checks, limits and clocks cost."""
_PROGRAM = (sys.executable, "-m", "benchmarks.small_tool")
_ARGUMENTS = {"text": "a short question of some words"}
_MINUTE = timedelta(minutes=1)

Call = Callable[[], Awaitable[object]]


async def measure(rounds: int, calls: int = CALLS) -> list[Figure]:
    """Ratios of hub to bare client over each transport, one after the other and all at once."""
    figures: list[Figure] = []
    with Hosted(server().streamable_http_app(), lifespan="on") as hosted:
        url = f"{hosted.address}/mcp"
        places: dict[str, tuple[ServerConfig | BuiltinServer, object]] = {
            "in process": (BuiltinServer(server(), concurrency=calls), server()),
            "stdio": (
                StdioServer(command=_PROGRAM, concurrency=calls),
                StdioServerParameters(command=_PROGRAM[0], args=list(_PROGRAM[1:])),
            ),
            "HTTP": (HttpServer(url=url, concurrency=calls), url),
        }
        for name, (ours, bare) in places.items():
            async with _both(ours, bare) as (through_hub, directly):
                figures += await _compared(name, through_hub, directly, rounds, calls)
    return figures


@asynccontextmanager
async def _both(
    ours: ServerConfig | BuiltinServer, bare: object
) -> AsyncIterator[tuple[Call, Call]]:
    async with AsyncExitStack() as stack:
        is_builtin = isinstance(ours, BuiltinServer)
        hub = Hub({}, {"lab": ours}) if is_builtin else Hub({"lab": ours}, {})
        await stack.enter_async_context(hub)
        client = await stack.enter_async_context(Client(bare))

        async def through_hub() -> object:
            return await hub.call("lab.echo", _ARGUMENTS, timeout=_MINUTE)

        async def directly() -> object:
            return await client.call_tool("echo", _ARGUMENTS, read_timeout_seconds=60)

        for call in (through_hub, directly):
            await call()  # connected, listed, its schema compiled
        yield through_hub, directly


async def _compared(
    name: str, through_hub: Call, directly: Call, rounds: int, calls: int
) -> list[Figure]:
    hub_one, bare_one = await interleaved(
        [_one_by_one(through_hub, calls), _one_by_one(directly, calls)], rounds
    )
    hub_all, bare_all = await interleaved(
        [_at_once(through_hub, calls), _at_once(directly, calls)], rounds
    )
    more = (statistics.median(hub_one) - statistics.median(bare_one)) / calls * 1_000
    each = f"{statistics.median(bare_one) / calls * 1_000:.2f} ms bare, {more:+.2f} ms"
    whole = f"{statistics.median(bare_all):.2f} s bare"
    return [
        Figure(f"{name}, one by one", ratio(hub_one, bare_one), "x bare", AIM, each),
        Figure(f"{name}, {calls} at once", ratio(hub_all, bare_all), "x bare", AIM, whole),
    ]


def _one_by_one(call: Call, calls: int) -> Callable[[], Awaitable[float]]:
    async def arm() -> float:
        began = time.perf_counter()
        for _ in range(calls):
            await call()
        return time.perf_counter() - began

    return arm


def _at_once(call: Call, calls: int) -> Callable[[], Awaitable[float]]:
    async def arm() -> float:
        began = time.perf_counter()
        await asyncio.gather(*(call() for _ in range(calls)))
        return time.perf_counter() - began

    return arm
