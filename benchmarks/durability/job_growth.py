"""Measure what grows with the length of a job and the age of a worker: time per task, replay time,
stored bytes, memory."""

import asyncio
import statistics
import time
from collections.abc import Sequence
from itertools import pairwise

import psutil
from sqlalchemy import text

from benchmarks.durability.workflow_histories import JobHistory, load_history
from benchmarks.setup.benchmark_figures import MeasuredFigure
from benchmarks.setup.counted_installation import CountedInstallation, counted_installation
from benchmarks.setup.job_graphs import JobGraph, chain_graph, layered_graph

LENGTHS = (100, 500, 2000)
SMALL = layered_graph(2, 2, 3)
FIFTHS_AIM = 1.2
REPLAY_AIM_S = 1.0
_AT_ONCE = 10
_LOOKS = 10

_ENDS = text(
    "select extract(epoch from finished_at)::float from tasks"
    " where job_id = :job and tool <> '' order by finished_at"
)
_SIZE = text("select pg_database_size(current_database())")


async def measure(
    lengths: Sequence[int] = LENGTHS, jobs: int = 1000, small: JobGraph = SMALL
) -> list[MeasuredFigure]:
    """Chains of empty tasks; the longest once more with a kill; then many small jobs."""
    async with counted_installation() as here:
        await here.answered(await here.submit(chain_graph(5)))
        figures = [
            figure for length in lengths for figure in await _chain(here, chain_graph(length))
        ]
        figures += await _killed(here, chain_graph(max(lengths)))
    async with counted_installation() as here:
        return figures + await _many(here, jobs, small)


async def _chain(here: CountedInstallation, graph: JobGraph) -> list[MeasuredFigure]:
    here.calls.forget()
    database, file = await _database_bytes(here), here.temporal_bytes
    looking = asyncio.create_task(_cpu_of_fifths(here, graph))
    handle = await here.submit_planned(graph)
    await here.answered(handle)
    cpu = await looking
    stored = await _database_bytes(here) - database
    written = here.temporal_bytes - file
    history = await load_history(here.client, handle.id)
    return [
        *_of_time(graph, await _ends(here, handle.id)),
        *_of_fifths(graph, "worker's CPU", cpu),
        _kilobytes(graph, "PostgreSQL", stored, "the database's growth"),
        _kilobytes(graph, "histories", history.size_bytes, f"{len(history.runs)} runs"),
        _kilobytes(graph, "Temporal's file", written, "with its log"),
    ]


def _of_time(graph: JobGraph, ends: list[float]) -> list[MeasuredFigure]:
    # What lies before the end of the first task is planning.
    seconds = [end - before for before, end in pairwise(ends)]
    fifth = max(1, len(seconds) // 5)
    fifths = statistics.mean(seconds[:fifth]), statistics.mean(seconds[-fifth:])
    whole = MeasuredFigure(f"{graph.name}: time", statistics.mean(seconds) * 1000, "ms/task")
    return [whole, *_of_fifths(graph, "time", fifths)]


def _of_fifths(graph: JobGraph, what: str, fifths: tuple[float, float]) -> list[MeasuredFigure]:
    first, last = fifths
    return [
        MeasuredFigure(f"{graph.name}: {what}, first fifth", first * 1000, "ms/task"),
        MeasuredFigure(f"{graph.name}: {what}, last fifth", last * 1000, "ms/task"),
        MeasuredFigure(f"{graph.name}: {what}, last to first", last / first, "x", FIFTHS_AIM),
    ]


async def _cpu_of_fifths(here: CountedInstallation, graph: JobGraph) -> tuple[float, float]:
    """Seconds per task that the worker computes: little changed by what else the machine does."""
    worker, fifth, looks = here.worker, graph.size // 5, []
    for begun in (1, 1 + fifth, graph.size - fifth, graph.size):
        await here.calls.wait_for_tool_calls(begun)
        spent = worker.cpu_times()
        looks.append(spent.user + spent.system)
    return (looks[1] - looks[0]) / fifth, (looks[3] - looks[2]) / fifth


def _kilobytes(graph: JobGraph, what: str, size: int, note: str) -> MeasuredFigure:
    return MeasuredFigure(f"{graph.name}: {what}", size / graph.size / 1024, "KB/task", None, note)


async def _killed(here: CountedInstallation, graph: JobGraph) -> list[MeasuredFigure]:
    """SIGKILL at nine tenths: until a task begins that had not begun, and the replay in that."""
    here.calls.forget()
    handle = await here.submit_planned(graph)
    await here.calls.wait_for_tool_calls(graph.size * 9 // 10)
    killed = here.kill_worker()
    begins = await here.calls.wait_for_new_tool_call(killed.seen)
    await here.answered(handle)
    history: JobHistory = await load_history(here.client, handle.id)
    return [
        MeasuredFigure(f"{graph.name}: kill at 9/10 to the next task", begins - killed.at_s, "s"),
        MeasuredFigure(f"{graph.name}: the replay in that", history.replay_s, "s", REPLAY_AIM_S),
    ]


async def _many(here: CountedInstallation, jobs: int, graph: JobGraph) -> list[MeasuredFigure]:
    """The worker's memory while jobs come and go, ten at a time."""
    batch = jobs // _LOOKS
    worker = here.worker
    looks = [_megabytes(worker.pid)]
    began = time.perf_counter()
    for _ in range(_LOOKS):
        here.calls.forget()
        await _batch(here, batch, graph)
        looks.append(_megabytes(worker.pid))
    took = time.perf_counter() - began
    half = looks[_LOOKS // 2 :]
    slope = statistics.linear_regression(range(len(half)), half).slope / batch * 100
    note = " ".join(f"{look:.0f}" for look in looks)
    return [
        MeasuredFigure(f"{jobs} small jobs: memory at first", looks[0], "MB"),
        MeasuredFigure(f"{jobs} small jobs: memory at last", looks[-1], "MB", None, note),
        MeasuredFigure(f"{jobs} small jobs: slope, second half", slope, "MB/100 jobs"),
        MeasuredFigure(f"{jobs} small jobs: rate", jobs / took, "jobs/s"),
    ]


async def _batch(here: CountedInstallation, jobs: int, graph: JobGraph) -> None:
    turns = asyncio.Semaphore(_AT_ONCE)

    async def one() -> None:
        async with turns:
            await here.answered(await here.submit(graph))

    await asyncio.gather(*(one() for _ in range(jobs)))


async def _ends(here: CountedInstallation, job_id: str) -> list[float]:
    async with here.holdfast.db.reading() as connection:
        return list((await connection.execute(_ENDS, {"job": job_id})).scalars())


async def _database_bytes(here: CountedInstallation) -> int:
    async with here.holdfast.db.reading() as connection:
        return int((await connection.execute(_SIZE)).scalar_one())


def _megabytes(pid: int) -> float:
    """Proportional set size, or the unshared part of it where the system does not tell."""
    info = psutil.Process(pid).memory_full_info()
    return float(getattr(info, "pss", info.uss)) / 2**20
