"""Measure the memory of a worker process at rest, with many jobs, and while a tool gives a very
large answer."""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from uuid import uuid4

import psutil

from benchmarks.setup.benchmark_figures import MeasuredFigure
from benchmarks.setup.job_graphs import JobGraph, layered_graph
from benchmarks.workers.worker_processes import work_graphs, worker_process
from holdfast.services.servers.temporary_services import TemporaryServices, temporary_services

REST_AIM_MB = 200
JOBS_AIM_MB = 400
GRAPH = layered_graph(10, 2, 3)
_BIG_MB = 50
_LOOK_EVERY_S = 0.01


async def measure(
    jobs: int = 50, graph: JobGraph = GRAPH, big_mb: int = _BIG_MB
) -> list[MeasuredFigure]:
    """Resident megabytes; each peak is the highest of samples 10 ms apart."""
    with temporary_services() as services:
        async with _worker(services, graph, sleep_s=0.5, big_mb=0) as (process, queue):
            await asyncio.sleep(1)
            rest = _megabytes(process)
            full = await _peak_while(
                process, work_graphs(services, queue, [graph] * jobs, must_answer=True)
            )
        one = layered_graph(1, 1, 1)
        async with _worker(services, one, sleep_s=0, big_mb=big_mb) as (process, queue):
            big = await _peak_while(process, work_graphs(services, queue, [one], must_answer=False))
    tasks = len(graph.tasks) - 1
    return [
        MeasuredFigure("worker at rest", rest, "MB", REST_AIM_MB),
        MeasuredFigure(f"{jobs} jobs of {tasks} tasks, peak", full, "MB", JOBS_AIM_MB),
        MeasuredFigure(
            f"a tool answers {big_mb} MB, peak", big, "MB", None, "stdio server, cut at 1 MB"
        ),
    ]


async def _peak_while(process: psutil.Process, work: Coroutine[None, None, None]) -> float:
    task = asyncio.create_task(work)
    peak = _megabytes(process)
    while not task.done():
        await asyncio.sleep(_LOOK_EVERY_S)
        peak = max(peak, _megabytes(process))
    await task
    return peak


def _megabytes(process: psutil.Process) -> float:
    return float(process.memory_info().rss) / 2**20


@asynccontextmanager
async def _worker(
    services: TemporaryServices, graph: JobGraph, *, sleep_s: float, big_mb: int
) -> AsyncIterator[tuple[psutil.Process, str]]:
    """A worker in a process of its own, polling its own queue."""
    queue = f"memory-{uuid4().hex[:6]}"
    worker = worker_process(services, queue, graph, sleep_s=sleep_s, big_mb=big_mb)
    async with worker as process:
        yield process, queue
