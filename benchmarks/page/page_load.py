"""Measure the page in Chromium: first paint by size, bytes and lateness of events, memory."""

import asyncio
import statistics
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta

from playwright.async_api import Browser

from benchmarks.api.served_installation import ServedInstallation, served_installation
from benchmarks.page.measured_tab import measured_tab
from benchmarks.setup.benchmark_figures import MeasuredFigure
from benchmarks.setup.job_graphs import chain_graph, layered_graph
from holdfast.models.views.job_views import EventView
from holdfast.storage.views.job_queries import events_after
from tests.support.services.browser import open_browser

SIZES = (50, 500, 2000)
LOOK = timedelta(minutes=1)
_WIDTH, _TABS = 10, 3
_LATENCY_S = 1.0
"""What a task of the watched job takes."""
_PAINT_AIM_S = {500: 1.0}
_BYTES_AIM_KB = {500: 200.0}
_LATENESS_AIM_S = 1.5


async def measure(
    sizes: Sequence[int] = SIZES, loads: int = 9, streams: int = 100, look: timedelta = LOOK
) -> list[MeasuredFigure]:
    """First paints of ended jobs; then tabs and streams that follow a job for `look`."""
    async with served_installation() as served, open_browser() as browser:
        figures = [
            figure for size in sizes for figure in await _first_paint(served, browser, size, loads)
        ]
    async with served_installation(latency_s=_LATENCY_S) as served, open_browser() as browser:
        return figures + await _look(served, browser, streams, look)


async def _first_paint(
    served: ServedInstallation, browser: Browser, size: int, loads: int
) -> list[MeasuredFigure]:
    graph = layered_graph(_WIDTH, size // _WIDTH, _WIDTH)
    handle = await served.installation.submit_planned(graph)
    await served.installation.answered(handle)
    async with measured_tab(browser, served) as tab:
        await tab.load(f"/jobs/{handle.id}")
        found = [await tab.load(f"/jobs/{handle.id}") for _ in range(loads)]
    paint = statistics.median(each.first_paint_ms for each in found) / 1000
    answer = statistics.median(each.received_ms for each in found) / 1000
    page = found[-1]
    return [
        MeasuredFigure(f"{size} tasks: first paint, p50", paint, "s", _PAINT_AIM_S.get(size)),
        MeasuredFigure("  of it, until the page is received", answer, "s"),
        MeasuredFigure("  page", page.html_bytes / 1000, "KB", _BYTES_AIM_KB.get(size)),
        MeasuredFigure("  sent, compressed", page.sent_bytes / 1000, "KB"),
    ]


async def _look(
    served: ServedInstallation, browser: Browser, streams: int, look: timedelta
) -> list[MeasuredFigure]:
    """Tabs of one job that runs for as long as they look, with streams that no browser reads."""
    graph = chain_graph(int(look.total_seconds() / _LATENCY_S) + 60)
    handle = await served.installation.submit_planned(graph)
    async with AsyncExitStack() as stack:
        tabs = [
            await stack.enter_async_context(measured_tab(browser, served)) for _ in range(_TABS)
        ]
        for tab in tabs:
            await tab.load(f"/jobs/{handle.id}")
            await tab.note_entries()
        await stack.enter_async_context(_open_streams(served, handle.id, streams))
        heap, memory = await tabs[0].heap_mb(), served.server_mb
        for tab in tabs:
            tab.received_bytes = 0
        await asyncio.sleep(look.total_seconds())
        for tab in tabs:
            await tab.wait_for_entry()
        seen = [await tab.seen_entries() for tab in tabs]
        received = statistics.mean(tab.received_bytes for tab in tabs)
        heap_after, memory_after = await tabs[0].heap_mb(), served.server_mb
    stored = {each.seq: each.at.timestamp() for each in await _log(served, handle.id)}
    late = sorted(at - stored[seq] for tab in seen for seq, at in tab)
    entries = 1 + max(tab[-1][0] for tab in seen) - min(tab[0][0] for tab in seen)
    minutes = look.total_seconds() / 60
    looked = f"{_TABS} tabs and {streams} streams, {minutes:g} min"
    return [
        MeasuredFigure(f"{looked}: lateness, p50", late[len(late) // 2], "s"),
        MeasuredFigure("  lateness, p95", late[len(late) * 95 // 100], "s", _LATENESS_AIM_S),
        MeasuredFigure("  sent to a tab for an event", received / entries / 1000, "KB"),
        MeasuredFigure("  a tab's scripts and elements, at first", heap, "MB"),
        MeasuredFigure("  at the end", heap_after, "MB"),
        MeasuredFigure("  memory of the server, at first", memory, "MB"),
        MeasuredFigure("  at the end", memory_after, "MB"),
    ]


@asynccontextmanager
async def _open_streams(
    served: ServedInstallation, job_id: str, number: int
) -> AsyncIterator[None]:
    """Followers that read the job's events and do nothing with them."""
    followers = [asyncio.create_task(_follow(served, job_id)) for _ in range(number)]
    try:
        yield
    finally:
        for each in followers:
            each.cancel()
        await asyncio.gather(*followers, return_exceptions=True)


async def _follow(served: ServedInstallation, job_id: str) -> None:
    async with served.http.stream("GET", f"/jobs/{job_id}/events") as answer:
        answer.raise_for_status()
        async for _ in answer.aiter_lines():
            pass


async def _log(served: ServedInstallation, job_id: str) -> list[EventView]:
    return await events_after(served.installation.holdfast.db, job_id, 0, 1_000_000)
