"""A whole installation as `holdfast up` makes it, whose models and tools are counted calls."""

import asyncio
import os
import signal
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import psutil
from temporalio.client import Client, WorkflowHandle

from benchmarks.arms import request_for
from benchmarks.counted_calls import CountedCalls, Seen, serving
from benchmarks.graphs import Graph, draft
from benchmarks.stand_ins import TOOL, TimedModel
from holdfast.client import Holdfast, new_job_id, start_workflow
from holdfast.services.lifecycle import down, up
from holdfast.services.worker_process import current_worker
from holdfast.settings import Endpoints, Settings, load_settings
from holdfast.temporal import connect
from roles.drafts import PlanDraft
from storage import jobs, plans
from storage.database import Database
from storage.plans import Revision

_SHORT_LIFE_S = 11.0
_FOREIGN = ("HOLDFAST_", "OPENAI_", "TEMPORAL_", "PYTHONDONTWRITEBYTECODE")


@dataclass(frozen=True)
class Killed:
    """The moment of a kill, and what had been called until then."""

    at_s: float
    seen: Seen


@dataclass
class Installation:
    """PostgreSQL, Temporal and a worker, each a process of its own, and what the worker calls."""

    settings: Settings
    endpoints: Endpoints
    client: Client
    holdfast: Holdfast
    calls: CountedCalls

    async def submit(self, graph: Graph) -> WorkflowHandle[Any, Any]:
        self.calls.model.graphs[graph.name] = graph
        job_id = await self.holdfast.submit(request_for(graph))
        return self.client.get_workflow_handle(job_id)

    async def submit_planned(self, graph: Graph) -> WorkflowHandle[Any, Any]:
        """A job whose plan is there from the start: no planner may write more than 500 tasks."""
        db, job_id, request = self.holdfast.db, new_job_id(), request_for(graph)
        plan = PlanDraft.model_validate(draft(graph, TOOL)).to_plan()
        names = tuple(task.id for task in plan.tasks)
        await jobs.submit(db, job_id, request, None)
        async with db.job(job_id) as write:
            revision = Revision(revision=0, cause="planned", added=names)
            await plans.store_revision(write, plan, revision, {name: name for name in names})
        await start_workflow(self.client, self.settings.task_queue, job_id, request)
        return self.client.get_workflow_handle(job_id)

    async def answered(self, handle: WorkflowHandle[Any, Any]) -> None:
        """Wait for the job's end.

        Raises:
            RuntimeError: the job was not answered, so its figures would mean nothing.
        """
        outcome = await handle.result()
        if outcome["reason"] != "answered":
            raise RuntimeError(f"{handle.id} was not answered: {outcome}")

    @property
    def worker(self) -> psutil.Process:
        """The process that works, not the supervisor that starts it."""
        known = current_worker(self.settings.home)
        assert known is not None, "the supervisor has started a worker"
        return psutil.Process(known.pid)

    @property
    def temporal_bytes(self) -> int:
        """Temporal's database with what has not been folded into it yet."""
        return sum(file.stat().st_size for file in self.settings.home.glob("temporal.db*"))

    async def worker_is_grown(self) -> None:
        """Wait until a death counts as the worker's first: one that keeps dying is given pauses."""
        age_s = time.time() - self.worker.create_time()
        await asyncio.sleep(max(0.0, _SHORT_LIFE_S - age_s))

    def kill_worker(self) -> Killed:
        """SIGKILL; its supervisor starts another."""
        os.kill(self.worker.pid, signal.SIGKILL)
        return Killed(time.perf_counter(), self.calls.seen())


@asynccontextmanager
async def installed(latency_s: float = 0.0) -> AsyncIterator[Installation]:
    """An installation in a new folder; ended and removed with the block."""
    calls = CountedCalls(TimedModel(), latency_s)
    with ExitStack() as stack:
        stack.enter_context(serving(calls))
        home = Path(stack.enter_context(TemporaryDirectory(prefix="holdfast-bench-")))
        stack.enter_context(_environment(home, calls))
        settings = load_settings()
        stack.callback(down, settings)
        endpoints = await up(settings)
        client = await connect(settings, endpoints)
        db = Database(endpoints.database_url, pool_size=4)
        yield Installation(settings, endpoints, client, Holdfast(settings, endpoints, db), calls)
        await db.close()


@contextmanager
def _environment(home: Path, calls: CountedCalls) -> Iterator[None]:
    """Only what this installation is told; a worker inherits it."""
    config = home / "holdfast.toml"
    config.write_text(f'[servers.timed]\nurl = "http://{calls.address}/mcp"\nconcurrency = 200\n')
    ours = {
        "HOLDFAST_HOME": str(home),
        "HOLDFAST_CONFIG": str(config),
        "HOLDFAST_LOG_LEVEL": "ERROR",
        "OPENAI_BASE_URL": f"http://{calls.address}/v1",
        "OPENAI_API_KEY": "none-is-needed",
        "TEMPORAL_CONFIG_FILE": os.devnull,
    }
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_FOREIGN)}
    before = dict(os.environ)
    _set_environment(kept | ours)
    try:
        yield
    finally:
        _set_environment(before)


def _set_environment(variables: Mapping[str, str]) -> None:
    os.environ.clear()
    os.environ.update(variables)
