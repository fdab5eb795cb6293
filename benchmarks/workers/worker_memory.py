"""Measure the memory of a worker process at rest, with many jobs, and while a tool gives a very
large answer."""

import asyncio
import sys
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from uuid import uuid4

import psutil

from benchmarks.engine.compared_arms import connect_client, submit_graph_job
from benchmarks.setup.benchmark_figures import MeasuredFigure
from benchmarks.setup.job_graphs import JobGraph, layered_graph
from holdfast.services.servers.temporary_services import TemporaryServices, temporary_services
from holdfast.storage.core.database import Database

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
                process, _work(services, queue, [graph] * jobs, must_answer=True)
            )
        one = layered_graph(1, 1, 1)
        async with _worker(services, one, sleep_s=0, big_mb=big_mb) as (process, queue):
            big = await _peak_while(process, _work(services, queue, [one], must_answer=False))
    tasks = len(graph.tasks) - 1
    return [
        MeasuredFigure("worker at rest", rest, "MB", REST_AIM_MB),
        MeasuredFigure(f"{jobs} jobs of {tasks} tasks, peak", full, "MB", JOBS_AIM_MB),
        MeasuredFigure(
            f"a tool answers {big_mb} MB, peak", big, "MB", None, "stdio server, cut at 1 MB"
        ),
    ]


async def _work(
    services: TemporaryServices, queue: str, graphs: list[JobGraph], *, must_answer: bool
) -> None:
    """Work the graphs as jobs; too long an answer may fail its task, but not the worker."""
    client = await connect_client(services)
    db = Database(services.database_url, pool_size=4)
    ids = [f"job-{uuid4().hex[:12]}" for _ in graphs]
    for job_id, graph in zip(ids, graphs, strict=True):
        await submit_graph_job(client, db, queue, job_id, graph)
    ends = [client.get_workflow_handle(job_id).result() for job_id in ids]
    outcomes = await asyncio.gather(*ends, return_exceptions=True)
    await db.close()
    unanswered = [
        each for each in outcomes if isinstance(each, BaseException) or each["reason"] != "answered"
    ]
    if must_answer and unanswered:
        raise RuntimeError(f"{len(unanswered)} jobs were not answered: {unanswered[0]}")


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
    ready = services.home / f"{queue}.ready"
    arguments = [services.database_url, services.temporal_address, queue, str(ready)]
    shape = [str(sleep_s), str(big_mb), graph.name]
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "benchmarks.workers.memory_worker", *arguments, *shape
    )
    try:
        while not ready.exists():
            if process.returncode is not None:
                raise RuntimeError("the worker of the memory benchmark ended while it started")
            await asyncio.sleep(0.05)
        yield psutil.Process(process.pid), queue
    finally:
        process.terminate()
        await process.wait()
