"""Tests that a thousand jobs of one owner do not delay the job of another owner."""

import asyncio
import sysconfig
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import pytest
from temporalio import activity, workflow
from temporalio.client import Client
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.testing import WorkflowEnvironment
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from holdfast.models.jobs.activity_orders import JobOrder
from holdfast.models.jobs.job_record import JobRequest
from holdfast.models.strategies.job_strategy import Strategy
from holdfast.services.servers.temporal_server import _DYNAMIC_CONFIG
from holdfast.temporal.temporal_connection import register_search_attributes
from holdfast.temporal.workflow_start import start_workflow

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(500),
    pytest.mark.conformance("OPS-10"),
]

JOBS = 1000
QUEUE = "turns"


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
        while len(self.ran) == 1 and not await self._waits("otto"):
            await asyncio.sleep(0.2)
        if job_id == "otto":
            self.ottos.set()

    async def _waits(self, job_id: str) -> bool:
        found = await self.client.get_workflow_handle(job_id).describe()
        return bool(found.raw_description.pending_activities)


async def submit(client: Client, job_id: str, owner: str) -> None:
    request = JobRequest(
        question="?", preset="kpi-chain", model="m", strategy=Strategy(), owner=owner
    )
    await start_workflow(client, QUEUE, job_id, request)


async def test_a_thousand_jobs_of_one_owner_delay_another_owner_by_one_slot() -> None:
    config = [
        word
        for name, value in _DYNAMIC_CONFIG.items()
        for word in ("--dynamic-config-value", f"{name}={value}")
    ]
    async with await WorkflowEnvironment.start_local(
        dev_server_existing_path=str(Path(sysconfig.get_path("scripts"), "temporal")),
        dev_server_extra_args=config,
        data_converter=pydantic_data_converter,
    ) as environment:
        client = environment.client
        slot = Slot(client)
        await register_search_attributes(client)
        for first in range(0, JOBS, 50):
            some = range(first, first + 50)
            await asyncio.gather(*(submit(client, f"maria-{n}", "maria") for n in some))
        await submit(client, "otto", "otto")
        worker = Worker(
            client,
            task_queue=QUEUE,
            workflows=[OneTask],
            activities=[slot.task],
            workflow_runner=UnsandboxedWorkflowRunner(),
            max_concurrent_activities=1,
            disable_eager_activity_execution=True,
        )
        async with worker, asyncio.timeout(240):
            await slot.ottos.wait()

    assert slot.ran.index("otto") <= 2, slot.ran[:20]
