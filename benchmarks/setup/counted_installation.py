"""Start a whole installation as `holdfast up` does, with models and tools that count calls."""

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

from benchmarks.setup.counted_calls import CallSnapshot, CountedCalls, serve_counted_calls
from benchmarks.setup.job_graphs import JobGraph, plan_draft
from benchmarks.setup.timed_stand_ins import TIMED_TOOL, TimedModel, graph_request
from benchmarks.setup.workflow_results import workflow_result
from holdfast.client import Holdfast, new_job_id
from holdfast.models.plans.plan_change import PlanChange
from holdfast.models.plans.plan_change_cause import PlanChangeCause
from holdfast.models.plans.plan_drafts import DraftTask
from holdfast.models.plans.research_plan import Plan
from holdfast.services.launch.worker_process import current_worker
from holdfast.services.service_lifecycle import start_services, stop_services
from holdfast.settings import Endpoints, Settings, load_settings
from holdfast.storage.core.database import Database
from holdfast.storage.jobs import job_rows
from holdfast.storage.plans import plan_change_rows
from holdfast.temporal.temporal_connection import connect
from holdfast.temporal.workflow_start import start_workflow

_SHORT_LIFE_S = 11.0
_FOREIGN = ("HOLDFAST_", "OPENAI_", "TEMPORAL_", "PYTHONDONTWRITEBYTECODE")


@dataclass(frozen=True)
class WorkerKill:
    """The moment of a kill, and what had been called until then."""

    at_s: float
    seen: CallSnapshot


@dataclass
class CountedInstallation:
    """PostgreSQL, Temporal and a worker, each a process of its own, and what the worker calls."""

    settings: Settings
    endpoints: Endpoints
    client: Client
    holdfast: Holdfast
    calls: CountedCalls

    async def submit(self, graph: JobGraph) -> WorkflowHandle[Any, Any]:
        self.calls.model.graphs[graph.name] = graph
        job_id = await self.holdfast.submit(graph_request(graph))
        return self.client.get_workflow_handle(job_id)

    async def submit_planned(self, graph: JobGraph) -> WorkflowHandle[Any, Any]:
        """A job whose plan is there from the start: no planner may write more than 500 tasks."""
        db, job_id, request = self.holdfast.db, new_job_id(), graph_request(graph)
        drafts = plan_draft(graph, TIMED_TOOL)["tasks"]
        tasks = tuple(DraftTask.model_validate(each).to_task() for each in drafts)
        await job_rows.submit_job(db, job_id, request, None)
        async with db.job(job_id) as write:
            change = PlanChange(cause=PlanChangeCause.PLANNED, added=tasks)
            await plan_change_rows.store_change(write, Plan(), change)
        await start_workflow(self.client, self.settings.task_queue, job_id, request)
        return self.client.get_workflow_handle(job_id)

    async def answered(self, handle: WorkflowHandle[Any, Any]) -> None:
        """Wait for the job's end.

        Raises:
            RuntimeError: the job was not answered, so its figures would mean nothing.
            WorkflowFailureError: the job failed.
        """
        outcome = await workflow_result(handle)
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

    async def wait_until_worker_is_old_enough(self) -> None:
        """Wait until a death counts as the worker's first: one that keeps dying is given pauses."""
        age_s = time.time() - self.worker.create_time()
        await asyncio.sleep(max(0.0, _SHORT_LIFE_S - age_s))

    def kill_worker(self) -> WorkerKill:
        """SIGKILL; its supervisor starts another."""
        os.kill(self.worker.pid, signal.SIGKILL)
        return WorkerKill(time.perf_counter(), self.calls.seen())


@asynccontextmanager
async def counted_installation(latency_s: float = 0.0) -> AsyncIterator[CountedInstallation]:
    """An installation in a new folder; ended and removed with the block."""
    calls = CountedCalls(TimedModel(), latency_s)
    with ExitStack() as stack:
        stack.enter_context(serve_counted_calls(calls))
        home = Path(stack.enter_context(TemporaryDirectory(prefix="holdfast-bench-")))
        stack.enter_context(_environment(home, calls))
        settings = load_settings()
        stack.callback(stop_services, settings)
        endpoints = await start_services(settings)
        client = await connect(settings, endpoints)
        db = Database(endpoints.database_url, pool_size=4)
        yield CountedInstallation(
            settings, endpoints, client, Holdfast(settings, endpoints, db), calls
        )
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
