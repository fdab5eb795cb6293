"""Compare a tool call through the hub with the same call by a bare `mcp` client."""

import asyncio
import statistics
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta

from mcp import Client, StdioServerParameters

from benchmarks.setup.benchmark_figures import MeasuredFigure, median_ratio, time_interleaved
from benchmarks.tools.echo_server import echo_server
from holdfast.tools.mcp.server_config import HttpServer, ServerConfig, StdioServer
from holdfast.tools.mcp.tool_hub import Hub
from holdfast.tools.mcp.tool_server import BuiltinServer
from tests.support.endpoints.hosted_app import HostedApp

CALLS = 200
AIM = 1.5
"""The most that calls should take of the bare client's time: checks, limits and clocks cost."""
_PROGRAM = (sys.executable, "-m", "benchmarks.tools.echo_server")
_ARGUMENTS = {"text": "a short question of some words"}
_MINUTE = timedelta(minutes=1)

Call = Callable[[], Awaitable[object]]


async def measure(rounds: int, calls: int = CALLS) -> list[MeasuredFigure]:
    """Ratios of hub to bare client over each transport, one after the other and all at once."""
    figures: list[MeasuredFigure] = []
    with HostedApp(echo_server().streamable_http_app(), lifespan="on") as hosted:
        url = f"{hosted.address}/mcp"
        places: dict[str, tuple[ServerConfig | BuiltinServer, object]] = {
            "in process": (BuiltinServer(echo_server(), concurrency=calls), echo_server()),
            "stdio": (
                StdioServer(command=_PROGRAM, concurrency=calls),
                StdioServerParameters(command=_PROGRAM[0], args=list(_PROGRAM[1:])),
            ),
            "HTTP": (HttpServer(url=url, concurrency=calls), url),
        }
        for name, (ours, bare) in places.items():
            async with _both_clients(ours, bare) as (through_hub, directly):
                figures += await _compared(name, through_hub, directly, rounds, calls)
    return figures


@asynccontextmanager
async def _both_clients(
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
) -> list[MeasuredFigure]:
    hub_one, bare_one = await time_interleaved(
        [_one_by_one(through_hub, calls), _one_by_one(directly, calls)], rounds
    )
    hub_all, bare_all = await time_interleaved(
        [_at_once(through_hub, calls), _at_once(directly, calls)], rounds
    )
    more = (statistics.median(hub_one) - statistics.median(bare_one)) / calls * 1_000
    each = f"{statistics.median(bare_one) / calls * 1_000:.2f} ms bare, {more:+.2f} ms"
    whole = f"{statistics.median(bare_all):.2f} s bare"
    return [
        MeasuredFigure(f"{name}, one by one", median_ratio(hub_one, bare_one), "x bare", AIM, each),
        MeasuredFigure(
            f"{name}, {calls} at once", median_ratio(hub_all, bare_all), "x bare", AIM, whole
        ),
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
