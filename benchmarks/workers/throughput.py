"""Measure how many tasks a second workers finish together, and what a task takes from each
process."""

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from uuid import uuid4

import psutil
from sqlalchemy import text

from benchmarks.setup.benchmark_figures import MeasuredFigure
from benchmarks.setup.job_graphs import JobGraph, layered_graph, wide_graph
from benchmarks.workers.worker_processes import statement_file, work_graphs, worker_process
from holdfast.services.servers.temporary_services import TemporaryServices, temporary_services
from holdfast.storage.core.database import Database

JOBS = (50, 500)
CALLS_S = (0.0, 0.2, 2.0)
WORKERS = (1, 2, 4, 8)
IN_FLIGHT_S = 20.0
"""Long enough for 500 calls to begin before the first one ends, at 40 ms of processor time each."""
GRAPH = layered_graph(10, 2, 10)
"""20 tasks, and the one that joins them."""
WIDE = wide_graph(100, 100)
_LOOK_EVERY_S = 0.1

_IN_FLIGHT = text("select count(*) from tool_calls where status = 'started'")
_WRITTEN = text(
    "select pg_database_size(current_database()), pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0'),"
    " (select count(*) from events where kind = 'task.started')"
)


@dataclass
class _Usage:
    """Processor seconds by process, memory, bytes of PostgreSQL and attempts, at one moment."""

    seconds: dict[str, float]
    memory_mb: float
    """Resident, of the largest worker."""
    database_bytes: int
    log_bytes: int
    attempts: int
    """How often a task began, over all arms."""


@dataclass
class _Workers:
    """The workers of one arm; `statements` is there once they have ended."""

    queue: str
    processes: list[psutil.Process] = field(default_factory=list)
    statements: int = 0


async def measure(
    jobs: Sequence[int] = JOBS,
    calls_s: Sequence[float] = CALLS_S,
    workers: Sequence[int] = WORKERS,
    at_once: int = 5,
) -> list[MeasuredFigure]:
    """Each number of jobs with each length of calls on each number of workers; then `at_once` wide
    jobs, each with 100 calls of `IN_FLIGHT_S` in flight, on one worker."""
    figures = []
    with temporary_services() as services:
        await _arm(services, 1, 0.0, 1)
        for length_s in calls_s:
            for number in jobs:
                for count in workers:
                    figures += await _arm(services, number, length_s, count)
        return figures + await _in_flight(services, at_once)


async def _arm(
    services: TemporaryServices, jobs: int, length_s: float, count: int
) -> list[MeasuredFigure]:
    tasks = jobs * len(GRAPH.tasks)
    async with _running(services, GRAPH, length_s, count) as workers:
        before, began = await _usage(services, workers), time.perf_counter()
        await work_graphs(services, workers.queue, [GRAPH] * jobs, must_answer=True)
        took_s, after = time.perf_counter() - began, await _usage(services, workers)
    name = f"{jobs} jobs, calls of {length_s:g} s, workers: {count}"
    spent = {process: after.seconds[process] - before.seconds[process] for process in after.seconds}
    note = f"{sum(spent.values()) / took_s:.2f} processors busy"
    return [
        MeasuredFigure(f"{name}: rate", tasks / took_s, "tasks/s", None, note),
        *(
            MeasuredFigure(f"  CPU of {process}", seconds * 1000 / tasks, "ms/task")
            for process, seconds in spent.items()
        ),
        MeasuredFigure("  statements of workers", workers.statements / tasks, "per task"),
        MeasuredFigure(
            "  rows and indexes",
            (after.database_bytes - before.database_bytes) / tasks / 1024,
            "KB/task",
        ),
        MeasuredFigure(
            "  write-ahead log", (after.log_bytes - before.log_bytes) / tasks / 1024, "KB/task"
        ),
        MeasuredFigure("  attempts repeated", after.attempts - before.attempts - tasks, ""),
        MeasuredFigure("  memory of the largest worker", after.memory_mb, "MB"),
    ]


async def _in_flight(services: TemporaryServices, jobs: int) -> list[MeasuredFigure]:
    """The most calls that were in flight at once in one worker, and its processor time."""
    length_s, calls = IN_FLIGHT_S, jobs * WIDE.size
    async with _running(services, WIDE, length_s, 1) as workers:
        before, began = await _usage(services, workers), time.perf_counter()
        graphs = [WIDE] * jobs
        work = asyncio.create_task(work_graphs(services, workers.queue, graphs, must_answer=True))
        most = await _most_in_flight(services, work)
        took_s, after = time.perf_counter() - began, await _usage(services, workers)
    worker_s = after.seconds["workers"] - before.seconds["workers"]
    return [
        MeasuredFigure(f"{calls} calls of {length_s:g} s in one worker: most at once", most, ""),
        MeasuredFigure("  until all jobs are done", took_s, "s"),
        MeasuredFigure("  CPU of workers", worker_s * 1000 / calls, "ms/task"),
    ]


async def _most_in_flight(services: TemporaryServices, work: asyncio.Task[None]) -> int:
    db, most = Database(services.database_url, pool_size=1), 0
    while not work.done():
        async with db.reading() as connection:
            most = max(most, (await connection.execute(_IN_FLIGHT)).scalar_one())
        await asyncio.sleep(_LOOK_EVERY_S)
    await db.close()
    await work
    return most


@asynccontextmanager
async def _running(
    services: TemporaryServices, graph: JobGraph, length_s: float, count: int
) -> AsyncIterator[_Workers]:
    workers = _Workers(f"throughput-{uuid4().hex[:6]}")
    async with AsyncExitStack() as stack:
        for _ in range(count):
            worker = worker_process(services, workers.queue, graph, sleep_s=length_s)
            workers.processes.append(await stack.enter_async_context(worker))
        yield workers
    files = [statement_file(services.home, each.pid) for each in workers.processes]
    workers.statements = sum(int(file.read_text()) for file in files)


async def _usage(services: TemporaryServices, workers: _Workers) -> _Usage:
    seconds = {
        "workers": sum(_seconds(each) for each in workers.processes),
        "Temporal": _seconds(psutil.Process(services.temporal_pid)),
        "PostgreSQL": _seconds_of_all(psutil.Process(services.database_pid)),
        "the submitter": _seconds(psutil.Process()),
    }
    db = Database(services.database_url, pool_size=1)
    async with db.reading() as connection:
        written = [int(each) for each in (await connection.execute(_WRITTEN)).one()]
    await db.close()
    memory_mb = max(each.memory_info().rss for each in workers.processes) / 2**20
    return _Usage(seconds, memory_mb, *written)


def _seconds(process: psutil.Process) -> float:
    used = process.cpu_times()
    return used.user + used.system


def _seconds_of_all(process: psutil.Process) -> float:
    """With the processes below it, those that ended as well."""
    used = process.cpu_times()
    seconds = _seconds(process) + used.children_user + used.children_system
    for each in process.children():
        with suppress(psutil.NoSuchProcess):  # a connection that was closed meanwhile
            seconds += _seconds(each)
    return seconds
