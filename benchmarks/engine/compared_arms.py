"""Run one job on the engine or on bare Temporal in the same process, and time it."""

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

from benchmarks.engine.bare_temporal import BareJob, bare_worker, make_table
from benchmarks.setup.job_graphs import JobGraph
from benchmarks.setup.timed_stand_ins import TimedModel, graph_request, timed_tool_server
from holdfast.activities.runtime.activity_services import ModelRegistry, Services
from holdfast.roles.extractive.extractive_model import ExtractiveModel
from holdfast.services.servers.temporary_services import TemporaryServices
from holdfast.settings import Settings
from holdfast.storage.core.database import Database
from holdfast.storage.jobs import job_rows
from holdfast.temporal.workflow_start import start_workflow
from holdfast.tools.mcp.tool_hub import Hub
from holdfast.worker import build_worker

_IN_FLIGHT = 20


@dataclass(frozen=True)
class TimedJob:
    """One job: its tasks from the first that could start to the last that ended, and the whole."""

    tasks_s: float
    job_s: float
    cpu_s: float


@dataclass
class ComparedArms:
    """Both workers, polling; `sleep_s` is what the tasks of the next job take."""

    client: Client
    db: Database
    model: TimedModel
    engine_queue: str
    bare_queue: str
    sleep_s: float = 0.0

    async def engine(self, graph: JobGraph) -> TimedJob:
        """The graph as a research job of the product.

        Raises:
            RuntimeError: the job was not answered, so its time would mean nothing.
            WorkflowFailureError: the job failed.
        """
        job_id = f"job-{uuid4().hex[:12]}"
        self.model.graphs[graph.name] = graph
        began, cpu = time.perf_counter(), time.process_time()
        await submit_graph_job(self.client, self.db, self.engine_queue, job_id, graph)
        handle = self.client.get_workflow_handle(job_id)
        outcome = await handle.result()
        job_s, cpu_s = time.perf_counter() - began, time.process_time() - cpu
        if outcome["reason"] != "answered":
            raise RuntimeError(f"{graph.name}: {outcome}")
        return TimedJob(await _span_s(handle, "make_plan"), job_s, cpu_s)

    async def bare(self, graph: JobGraph) -> TimedJob:
        """The graph on bare Temporal."""
        needs = {task.id: task.needs for task in graph.tasks}
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
        return TimedJob(await _span_s(handle, None), job_s, cpu_s)


@asynccontextmanager
async def running_arms(services: TemporaryServices) -> AsyncIterator[ComparedArms]:
    """Both workers on the services, with the same settings."""
    async with AsyncExitStack() as stack:
        client = await connect_client(services)
        db = Database(services.database_url, pool_size=10)
        stack.push_async_callback(db.close)
        model = TimedModel()
        arms = ComparedArms(
            client, db, model, f"engine-{uuid4().hex[:6]}", f"bare-{uuid4().hex[:6]}"
        )
        hub = Hub({}, {"timed": timed_tool_server(lambda: arms.sleep_s)})
        await stack.enter_async_context(hub)
        parts = Services(db, ModelRegistry(ExtractiveModel(), model), hub)
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


async def connect_client(services: TemporaryServices) -> Client:
    return await Client.connect(services.temporal_address, data_converter=pydantic_data_converter)


async def submit_graph_job(
    client: Client, db: Database, queue: str, job_id: str, graph: JobGraph
) -> None:
    """Store the job and start its workflow, as the product's client does."""
    request = graph_request(graph)
    await job_rows.submit_job(db, job_id, request, None)
    await start_workflow(client, queue, job_id, request)


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
