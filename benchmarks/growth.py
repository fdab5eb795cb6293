"""What grows with a job's length and a worker's age: time per task, replay, bytes, memory."""

import asyncio
import statistics
import time
from collections.abc import Sequence
from itertools import pairwise

import psutil
from sqlalchemy import text

from benchmarks.figures import Figure
from benchmarks.graphs import Graph, chain, layered
from benchmarks.histories import History, history_of
from benchmarks.installation import Installation, installed

LENGTHS = (100, 500, 2000)
SMALL = layered(2, 2, 3)
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
    lengths: Sequence[int] = LENGTHS, jobs: int = 1000, small: Graph = SMALL
) -> list[Figure]:
    """Chains of empty tasks; the longest once more with a kill; then many small jobs."""
    async with installed() as here:
        await here.answered(await here.submit(chain(5)))
        figures = [figure for length in lengths for figure in await _chain(here, chain(length))]
        figures += await _killed(here, chain(max(lengths)))
    async with installed() as here:
        return figures + await _many(here, jobs, small)


async def _chain(here: Installation, graph: Graph) -> list[Figure]:
    here.calls.forget()
    database, file = await _database_bytes(here), here.temporal_bytes
    looking = asyncio.create_task(_cpu_of_fifths(here, graph))
    handle = await here.submit_planned(graph)
    await here.answered(handle)
    cpu = await looking
    stored = await _database_bytes(here) - database
    written = here.temporal_bytes - file
    history = await history_of(here.client, handle.id)
    return [
        *_of_time(graph, await _ends(here, handle.id)),
        *_of_fifths(graph, "worker's CPU", cpu),
        _kilobytes(graph, "PostgreSQL", stored, "the database's growth"),
        _kilobytes(graph, "histories", history.size_bytes, f"{len(history.runs)} runs"),
        _kilobytes(graph, "Temporal's file", written, "with its log"),
    ]


def _of_time(graph: Graph, ends: list[float]) -> list[Figure]:
    # What lies before the end of the first task is planning.
    seconds = [end - before for before, end in pairwise(ends)]
    fifth = max(1, len(seconds) // 5)
    fifths = statistics.mean(seconds[:fifth]), statistics.mean(seconds[-fifth:])
    whole = Figure(f"{graph.name}: time", statistics.mean(seconds) * 1000, "ms/task")
    return [whole, *_of_fifths(graph, "time", fifths)]


def _of_fifths(graph: Graph, what: str, fifths: tuple[float, float]) -> list[Figure]:
    first, last = fifths
    return [
        Figure(f"{graph.name}: {what}, first fifth", first * 1000, "ms/task"),
        Figure(f"{graph.name}: {what}, last fifth", last * 1000, "ms/task"),
        Figure(f"{graph.name}: {what}, last to first", last / first, "x", FIFTHS_AIM),
    ]


async def _cpu_of_fifths(here: Installation, graph: Graph) -> tuple[float, float]:
    """Seconds per task that the worker computes: little changed by what else the machine does."""
    worker, fifth, looks = here.worker, graph.size // 5, []
    for begun in (1, 1 + fifth, graph.size - fifth, graph.size):
        await here.calls.tools_have_begun(begun)
        spent = worker.cpu_times()
        looks.append(spent.user + spent.system)
    return (looks[1] - looks[0]) / fifth, (looks[3] - looks[2]) / fifth


def _kilobytes(graph: Graph, what: str, size: int, note: str) -> Figure:
    return Figure(f"{graph.name}: {what}", size / graph.size / 1024, "KB/task", None, note)


async def _killed(here: Installation, graph: Graph) -> list[Figure]:
    """SIGKILL at nine tenths: until a task begins that had not begun, and the replay in that."""
    here.calls.forget()
    handle = await here.submit_planned(graph)
    await here.calls.tools_have_begun(graph.size * 9 // 10)
    killed = here.kill_worker()
    begins = await here.calls.another_tool_begins(killed.seen)
    await here.answered(handle)
    history: History = await history_of(here.client, handle.id)
    return [
        Figure(f"{graph.name}: kill at 9/10 to the next task", begins - killed.at_s, "s"),
        Figure(f"{graph.name}: the replay in that", history.replay_s, "s", REPLAY_AIM_S),
    ]


async def _many(here: Installation, jobs: int, graph: Graph) -> list[Figure]:
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
        Figure(f"{jobs} small jobs: memory at first", looks[0], "MB"),
        Figure(f"{jobs} small jobs: memory at last", looks[-1], "MB", None, note),
        Figure(f"{jobs} small jobs: slope, second half", slope, "MB/100 jobs"),
        Figure(f"{jobs} small jobs: rate", jobs / took, "jobs/s"),
    ]


async def _batch(here: Installation, jobs: int, graph: Graph) -> None:
    turns = asyncio.Semaphore(_AT_ONCE)

    async def one() -> None:
        async with turns:
            await here.answered(await here.submit(graph))

    await asyncio.gather(*(one() for _ in range(jobs)))


async def _ends(here: Installation, job_id: str) -> list[float]:
    async with here.holdfast.db.reading() as connection:
        return list((await connection.execute(_ENDS, {"job": job_id})).scalars())


async def _database_bytes(here: Installation) -> int:
    async with here.holdfast.db.reading() as connection:
        return int((await connection.execute(_SIZE)).scalar_one())


def _megabytes(pid: int) -> float:
    """Proportional set size, or the unshared part of it where the system does not tell."""
    info = psutil.Process(pid).memory_full_info()
    return float(getattr(info, "pss", info.uss)) / 2**20
