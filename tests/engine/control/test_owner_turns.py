"""Tests that the jobs of one owner, a thousand or important ones, do not delay another owner's."""

import asyncio
import threading
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from temporalio import activity, workflow
from temporalio.client import Client
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from holdfast.activities.runtime.interceptors.begin_interceptor import BeginInterceptor
from holdfast.models.jobs.activity_orders import JobOrder
from holdfast.models.jobs.job_record import JobRequest
from holdfast.models.strategies.job_strategy import Strategy
from holdfast.models.wire.event_kinds import EventKind
from holdfast.services.servers.temporal_server import _DYNAMIC_CONFIG
from holdfast.storage.views.job_queries import events_after
from holdfast.temporal.activity_slots import ActivitySlots, worker_tuner
from holdfast.temporal.workflow_start import start_workflow
from tests.support.endpoints.scripted_model import ReceivedRequest, ScriptedModel
from tests.support.endpoints.scripted_roles import ScriptedRoles
from tests.support.jobs.plan_builders import final_task, lookup_task, plan
from tests.support.jobs.running_engine import RunningEngine, running_engine
from tests.support.services.temporal_dev_server import start_temporal
from tests.support.tools.scripted_tools import ScriptedTools

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(500),
    pytest.mark.conformance("OPS-10"),
]

JOBS = 1000
TASKS = 8
QUEUE = "turns"


@pytest.fixture(scope="module")
async def fair_temporal() -> AsyncIterator[Client]:
    """A client of a server with the settings of the embedded one."""
    async with await start_temporal(settings=_DYNAMIC_CONFIG) as environment:
        yield environment.client


async def is_waiting(client: Client, job_id: str) -> bool:
    """True if an activity of the job waits or runs."""
    described = await client.get_workflow_handle(job_id).describe()
    return bool(described.raw_description.pending_activities)


@workflow.defn(name="research_job")
class OneTask:
    """Stands for a job: one task."""

    @workflow.run
    async def run(self, order: JobOrder) -> None:
        await workflow.execute_activity(
            "task", order.job_id, start_to_close_timeout=timedelta(minutes=5)
        )


@dataclass
class Slot:
    """The one slot of a worker, which notes whose tasks it ran.

    The first task lasts until Otto's task waits for the slot, however late the server gets to it.
    """

    client: Client
    ran: list[str] = field(default_factory=list)
    ottos: asyncio.Event = field(default_factory=asyncio.Event)

    @activity.defn(name="task")
    async def task(self, job_id: str) -> None:
        self.ran.append(job_id)
        while len(self.ran) == 1 and not await is_waiting(self.client, "otto"):
            await asyncio.sleep(0.2)
        if job_id == "otto":
            self.ottos.set()


async def submit(client: Client, job_id: str, owner: str) -> None:
    request = JobRequest(
        question="?", preset="kpi-chain", model="m", strategy=Strategy(), owner=owner
    )
    await start_workflow(client, QUEUE, job_id, request)


async def test_a_thousand_jobs_of_one_owner_delay_another_owner_by_one_slot(
    fair_temporal: Client,
) -> None:
    client, held, slots = fair_temporal, Slot(fair_temporal), ActivitySlots(1)
    for first in range(0, JOBS, 50):
        some = range(first, first + 50)
        await asyncio.gather(*(submit(client, f"maria-{n}", "maria") for n in some))
    await submit(client, "otto", "otto")
    worker = Worker(
        client,
        task_queue=QUEUE,
        workflows=[OneTask],
        activities=[held.task],
        interceptors=[BeginInterceptor(slots.begin)],
        workflow_runner=UnsandboxedWorkflowRunner(),
        tuner=worker_tuner(slots),
    )
    async with worker, asyncio.timeout(240):
        await held.ottos.wait()

    assert held.ran.index("otto") <= 2, held.ran[:20]


@pytest.fixture
async def one_slot(
    fair_temporal: Client,
    database_url: str,
    tmp_path: Path,
    model: ScriptedModel,
    tools: ScriptedTools,
) -> AsyncIterator[RunningEngine]:
    """A whole worker that runs one activity at a time."""
    addresses = {"model_url": model.url, "tools_url": tools.url}
    async with running_engine(
        fair_temporal, database_url, tmp_path, slots=1, **addresses
    ) as engine:
        yield engine


async def times(engine: RunningEngine, job_id: str, kind: EventKind) -> list[datetime]:
    return [each.at for each in await events_after(engine.db, job_id, 0) if each.kind == kind]


async def test_tasks_of_the_highest_priority_take_turns_with_those_of_another_owner(
    one_slot: RunningEngine, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    lookups = [lookup_task(f"T{n}", query=f"q{n}", priority=10) for n in range(1, TASKS + 1)]
    players.plan = plan(*lookups, final_task("END", *(each.id for each in lookups)))
    tools.answers = lambda query: f"found {query}"
    is_begun, may_end = threading.Event(), threading.Event()

    def extractor(asked: ReceivedRequest) -> object:
        is_begun.set()
        assert may_end.wait(240)
        return players._extractor(asked)

    players.parts["extractor"] = extractor
    maria = await one_slot.submit("Who keeps the light?", owner="maria", slots=TASKS)
    try:
        assert await asyncio.to_thread(is_begun.wait, 240)
        otto = await one_slot.submit("Who kept the light?", owner="otto")
        async with asyncio.timeout(240):
            while not await is_waiting(one_slot.temporal, otto):
                await asyncio.sleep(0.1)
    finally:
        may_end.set()
    for job_id in (maria, otto):
        await one_slot.holdfast.wait(job_id, timedelta(minutes=6))

    (began,) = await times(one_slot, otto, EventKind.JOB_STARTED)
    begun = await times(one_slot, maria, EventKind.TASK_STARTED)
    assert len(begun) == TASKS + 1
    assert sum(each < began for each in begun) <= 2, "Maria's first task, and one more"
