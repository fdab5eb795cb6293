"""Tests that a job goes on when an empty Temporal takes the place of its own in mid-job."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from temporalio.client import Client
from temporalio.service import RPCError
from temporalio.testing import WorkflowEnvironment

from holdfast.models.jobs.job_record import JobStatus
from holdfast.storage.views.job_queries import job_calls
from tests.durability.held_answer import HeldAnswer, eventually
from tests.durability.worker_launcher import WorkerLauncher
from tests.support.endpoints.scripted_model import ReceivedRequest, ScriptedModel
from tests.support.endpoints.scripted_roles import ScriptedRoles, extractor_script
from tests.support.jobs.plan_builders import final_task, lookup_task, plan
from tests.support.jobs.running_engine import running_engine
from tests.support.services.temporal_dev_server import start_temporal
from tests.support.tools.scripted_tools import ScriptedTools

pytestmark = [pytest.mark.slow, pytest.mark.timeout(240), pytest.mark.conformance("OPS-01")]


@pytest.fixture
async def own_temporal() -> AsyncIterator[WorkflowEnvironment]:
    """A server that the test may end."""
    environment = await start_temporal()
    yield environment
    await environment.shutdown()


async def has_pending_activity(client: Client, job_id: str) -> bool:
    """True if the job's workflow runs there and has begun the task that is under way."""
    try:
        described = await client.get_workflow_handle(job_id).describe()
    except RPCError:
        return False  # no worker has started it yet
    pending = described.raw_description.pending_activities
    return any(each.activity_id.startswith("T2") for each in pending)


async def test_a_job_goes_on_without_a_second_payment_at_an_empty_temporal_at_the_same_address(
    own_temporal: WorkflowEnvironment,
    database_url: str,
    tmp_path: Path,
    model: ScriptedModel,
    players: ScriptedRoles,
    tools: ScriptedTools,
) -> None:
    chain = [lookup_task("T1", query="a"), lookup_task("T2", "T1", query="b")]
    players.plan = plan(*chain, final_task("T3", "T2"))
    tools.answers = lambda argument: f"found {argument}"
    held = HeldAnswer(extractor_script("late", 0.9))

    def extractor(asked: ReceivedRequest) -> object:
        is_second = asked.task["arguments"]["query"] == "b"
        return held(asked) if is_second else players._extractor(asked)

    players.parts["extractor"] = extractor
    address = own_temporal.client.service_client.config.target_host
    async with running_engine(
        own_temporal.client,
        database_url,
        tmp_path,
        model_url=model.url,
        tools_url=tools.url,
        polls=False,
    ) as engine:
        workers = WorkerLauncher(engine, tmp_path)
        try:
            await workers.start()
            job_id = await engine.submit("Who keeps the light?")
            await held.asked()

            await own_temporal.shutdown()
            async with await start_temporal(int(address.rpartition(":")[2])) as empty:

                async def is_begun_there() -> bool:
                    return await has_pending_activity(empty.client, job_id)

                await eventually(is_begun_there)
                held.may_answer.set()
                async with asyncio.timeout(120):
                    job = await engine.holdfast.wait(job_id)
        finally:
            workers.end()

        calls = await job_calls(engine.db, job_id)
    assert job.status is JobStatus.DONE, job.message
    assert {(call.status, call.sends) for call in calls} == {("done", 1)}
