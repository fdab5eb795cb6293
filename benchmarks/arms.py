"""The two arms of a comparison in one process, and the timing of one job on each."""

import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import uuid4

from psycopg_pool import AsyncConnectionPool
from temporalio.api.enums.v1 import EventType
from temporalio.client import Client, WorkflowHandle
from temporalio.contrib.pydantic import pydantic_data_converter

from activities.parts import Models
from benchmarks.bare import BareJob, bare_worker, make_table
from benchmarks.graphs import Graph
from benchmarks.services import Services
from benchmarks.stand_ins import MODEL, TimedModel, timed_tools
from holdfast.client import start_workflow
from holdfast.settings import Settings
from models.jobs import JobRequest
from planning.presets import preset, with_settings
from roles.extractive.model import ExtractiveModel
from storage import jobs
from storage.database import Database
from tools.hub import Hub
from worker import Parts, build_worker

_IN_FLIGHT = 20


@dataclass(frozen=True)
class Timed:
    """One job: its tasks from the first that could start to the last that ended, and the whole."""

    tasks_s: float
    job_s: float
    cpu_s: float


@dataclass
class Arms:
    """Both workers, polling; `sleep_s` is what the tasks of the next job take."""

    client: Client
    db: Database
    model: TimedModel
    engine_queue: str
    bare_queue: str
    sleep_s: float = 0.0

    async def engine(self, graph: Graph) -> Timed:
        """The graph as a research job of the product.

        Raises:
            RuntimeError: the job was not answered, so its time would mean nothing.
        """
        job_id = f"job-{uuid4().hex[:12]}"
        self.model.graphs[graph.name] = graph
        began, cpu = time.perf_counter(), time.process_time()
        await submit(self.client, self.db, self.engine_queue, job_id, graph)
        handle = self.client.get_workflow_handle(job_id)
        outcome = await handle.result()
        job_s, cpu_s = time.perf_counter() - began, time.process_time() - cpu
        if outcome["reason"] != "answered":
            raise RuntimeError(f"{graph.name}: {outcome}")
        return Timed(await _span_s(handle, "make_plan"), job_s, cpu_s)

    async def bare(self, graph: Graph) -> Timed:
        """The graph on bare Temporal."""
        needs = {node.id: node.needs for node in graph.nodes}
        job = BareJob(needs=needs, slots=graph.slots, sleep_s=self.sleep_s)
        began, cpu = time.perf_counter(), time.process_time()
        handle: WorkflowHandle[Any, Any] = await self.client.start_workflow(
            "bare_graph",
            job,
            id=f"bare-{uuid4().hex[:12]}",
            task_queue=self.bare_queue,
            execution_timeout=timedelta(minutes=5),
        )
        await handle.result()
        job_s, cpu_s = time.perf_counter() - began, time.process_time() - cpu
        return Timed(await _span_s(handle, None), job_s, cpu_s)


@asynccontextmanager
async def running_arms(services: Services) -> AsyncIterator[Arms]:
    """Both workers on the services, with the same settings."""
    async with AsyncExitStack() as stack:
        client = await connected(services)
        db = Database(services.database_url, pool_size=10)
        stack.push_async_callback(db.close)
        model = TimedModel()
        arms = Arms(client, db, model, f"engine-{uuid4().hex[:6]}", f"bare-{uuid4().hex[:6]}")
        hub = Hub({}, {"timed": timed_tools(lambda: arms.sleep_s)})
        await stack.enter_async_context(hub)
        parts = Parts(db, hub, Models(ExtractiveModel(), model))
        settings = Settings(
            home=services.home, task_queue=arms.engine_queue, max_concurrent_tasks=_IN_FLIGHT
        )
        pool = AsyncConnectionPool(
            services.database_url.replace("+psycopg", ""), min_size=10, max_size=20, open=False
        )
        await stack.enter_async_context(pool)
        await make_table(pool)
        await stack.enter_async_context(build_worker(client, parts, settings))
        await stack.enter_async_context(bare_worker(client, pool, arms.bare_queue, _IN_FLIGHT))
        yield arms


async def connected(services: Services) -> Client:
    return await Client.connect(services.temporal_address, data_converter=pydantic_data_converter)


async def submit(client: Client, db: Database, queue: str, job_id: str, graph: Graph) -> None:
    """Store the job and start its workflow, as the product's client does."""
    request = request_for(graph)
    await jobs.submit(db, job_id, request, None)
    await start_workflow(client, queue, job_id, request)


def request_for(graph: Graph) -> JobRequest:
    """A request whose question names the graph, with limits that it does not reach."""
    changes: dict[str, Any] = {
        "slots": graph.slots,
        "max_tool_calls": 10_000,
        "max_replans_per_task": 0,
    }
    strategy = with_settings(preset("kpi-chain").strategy, changes)
    return JobRequest(question=graph.name, preset="kpi-chain", model=MODEL, strategy=strategy)


async def _span_s(handle: WorkflowHandle[Any, Any], after: str | None) -> float:
    """From the moment the tasks were known to the end of the last, by the server's clock.

    `after` names the activity that made them known; without it that is the workflow's start.
    """
    history = await handle.fetch_history()
    kinds: dict[int, str] = {}
    begins = history.events[0].event_time.ToDatetime()
    ends = begins
    for event in history.events:
        if event.event_type == EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED:
            scheduled = event.activity_task_scheduled_event_attributes
            kinds[event.event_id] = scheduled.activity_type.name
        elif event.event_type == EventType.EVENT_TYPE_ACTIVITY_TASK_COMPLETED:
            done = event.activity_task_completed_event_attributes
            kind = kinds[done.scheduled_event_id]
            if kind == after:
                begins = event.event_time.ToDatetime()
            if kind in {"tool_task", "reasoning_task", "bare_task"}:
                ends = event.event_time.ToDatetime()
    return (ends - begins) / timedelta(seconds=1)
