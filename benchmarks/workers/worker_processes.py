"""Start workers with the stand-in model and tools as processes, and run graphs on them as jobs."""

import asyncio
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from uuid import uuid4

import psutil

from benchmarks.engine.compared_arms import connect_client, submit_graph_job
from benchmarks.setup.job_graphs import JobGraph
from benchmarks.setup.workflow_results import workflow_result
from holdfast.services.servers.temporary_services import TemporaryServices
from holdfast.storage.core.database import Database

_LOOK_EVERY_S = 0.05


@asynccontextmanager
async def worker_process(
    services: TemporaryServices, queue: str, graph: JobGraph, *, sleep_s: float, big_mb: int = 0
) -> AsyncIterator[psutil.Process]:
    """A worker in a process of its own that polls the queue; tool calls take `sleep_s`."""
    ready = services.home / f"{queue}-{uuid4().hex[:6]}.ready"
    arguments = [services.database_url, services.temporal_address, queue, str(ready)]
    shape = [str(sleep_s), str(big_mb), graph.name]
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "benchmarks.workers.memory_worker", *arguments, *shape
    )
    try:
        while not ready.exists():
            if process.returncode is not None:
                raise RuntimeError("a worker of the benchmark ended while it started")
            await asyncio.sleep(_LOOK_EVERY_S)
        yield psutil.Process(process.pid)
    finally:
        process.terminate()
        await process.wait()


async def work_graphs(
    services: TemporaryServices, queue: str, graphs: Sequence[JobGraph], *, must_answer: bool
) -> None:
    """Submit the graphs as jobs at once, and wait for the end of each.

    Raises:
        RuntimeError: a job that `must_answer` was not answered.
    """
    client = await connect_client(services)
    db = Database(services.database_url, pool_size=4)
    ids = [f"job-{uuid4().hex[:12]}" for _ in graphs]
    for job_id, graph in zip(ids, graphs, strict=True):
        await submit_graph_job(client, db, queue, job_id, graph)
    ends = [workflow_result(client.get_workflow_handle(job_id)) for job_id in ids]
    outcomes = await asyncio.gather(*ends, return_exceptions=True)
    await db.close()
    unanswered = [
        each for each in outcomes if isinstance(each, BaseException) or each["reason"] != "answered"
    ]
    if must_answer and unanswered:
        reason = getattr(unanswered[0], "__cause__", None) or unanswered[0]
        raise RuntimeError(f"{len(unanswered)} jobs were not answered: {reason}")


def statement_file(folder: Path, pid: int) -> Path:
    """The file in which a worker leaves the number of its statements when it ends."""
    return folder / f"{pid}.statements"
