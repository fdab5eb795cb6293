"""Tests of rolling releases: a job stays with the release that began it, or moves as a whole."""

import asyncio
import signal
import sys
from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import pytest
from temporalio.client import Client

from holdfast.jobs.job_controller import JobController
from holdfast.models.errors import BadInput
from holdfast.models.jobs.job_record import JobRequest, JobStatus
from holdfast.models.schedules.schedule import ScheduleTerms
from holdfast.planning.strategies.strategy_presets import preset
from holdfast.roles.tasks.extractor import EXTRACTOR
from holdfast.schedules.schedule_management import (
    run_now,
    runs_of_schedule,
    schedule_question,
)
from holdfast.services.worker.worker_releases import list_releases, make_current, move_jobs
from holdfast.storage.views.job_queries import job_calls
from holdfast.temporal.job_schedules import RUN_WORKFLOW
from tests.durability.held_answer import HeldAnswer, eventually
from tests.durability.worker_launcher import WorkerLauncher
from tests.support.endpoints.scripted_model import ReceivedRequest
from tests.support.endpoints.scripted_roles import ScriptedRoles
from tests.support.jobs.plan_builders import final_task, lookup_task, plan
from tests.support.jobs.running_engine import RunningEngine
from tests.support.tools.scripted_tools import ScriptedTools

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300), pytest.mark.conformance("OPS-03")]

OLD, NEW = "1.0-a", "1.1-b"
SCHEDULED = JobRequest(
    question="When?",
    preset="kpi-chain",
    model="scripted",
    strategy=preset("kpi-chain").strategy,
)


@pytest.fixture
def held(players: ScriptedRoles, tools: ScriptedTools) -> HeldAnswer:
    """The first extraction of the test, which waits; each job has a tool task and its answer."""
    players.plan = plan(lookup_task("T1", query="lighthouse"), final_task("T2", "T1"))
    tools.answers = {"lighthouse": "It was lit in 1841."}
    held = HeldAnswer(players._extractor)

    def extractor(asked: ReceivedRequest) -> object:
        return held(asked) if players.count(EXTRACTOR) == 1 else players._extractor(asked)

    players.parts["extractor"] = extractor
    return held


class _ListsEndedToo:
    """A client of Temporal that lists workflows which ended meanwhile before those that run."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)

    async def list_workflows(self, query: str) -> AsyncIterator[Any]:
        for kind in (RUN_WORKFLOW, "job"):
            yield SimpleNamespace(id="ended", run_id=str(uuid4()), workflow_type=kind)
        async for each in self._client.list_workflows(query):
            yield each


async def let_begin(engine: RunningEngine, release: str) -> None:
    """Make the release current once Temporal has heard of its worker."""
    queue = engine.holdfast.settings.task_queue

    async def is_current() -> bool:
        try:
            await make_current(engine.temporal, queue, release)
        except BadInput:
            return False
        return True

    await eventually(is_current)


async def release_of(engine: RunningEngine, job_id: str) -> str:
    described = await engine.temporal.get_workflow_handle(job_id).describe()
    info = described.raw_description.workflow_execution_info
    return info.versioning_info.deployment_version.build_id


async def ended(engine: RunningEngine, job_id: str) -> None:
    async with asyncio.timeout(120):
        job = await engine.holdfast.wait(job_id)
    assert job.status is JobStatus.DONE, job.message


async def paused_job(engine: RunningEngine, held: HeldAnswer) -> str:
    """A job that its release has begun, and that rests before its last task."""
    job_id = await engine.submit("When?")
    await held.asked()
    await put_to_rest(engine, job_id, held)
    return job_id


async def put_to_rest(engine: RunningEngine, job_id: str, held: HeldAnswer) -> None:
    """Pause the job while its extraction is held, and wait until none of its work is left."""
    await JobController(engine.holdfast, "an operator").pause(job_id)
    held.may_answer.set()

    async def is_at_rest() -> bool:
        calls = await job_calls(engine.db, job_id)
        described = await engine.temporal.get_workflow_handle(job_id).describe()
        # The planner, the tool and the extractor have answered.
        all_done = len(calls) == 3 and {call.status for call in calls} == {"done"}
        return all_done and not described.raw_description.pending_activities

    await eventually(is_at_rest)


async def go_on(engine: RunningEngine, job_id: str) -> None:
    await JobController(engine.holdfast, "an operator").resume(job_id)
    await ended(engine, job_id)


async def test_a_running_job_stays_with_its_release_while_new_jobs_go_to_another_and_back(
    client_side: RunningEngine, workers: WorkerLauncher, held: HeldAnswer
) -> None:
    await workers.start(HOLDFAST_RELEASE=OLD)
    running = await paused_job(client_side, held)

    await workers.start(HOLDFAST_RELEASE=NEW)
    await let_begin(client_side, NEW)
    later = await client_side.submit("When?")
    await ended(client_side, later)
    await go_on(client_side, running)
    await let_begin(client_side, OLD)
    after_rollback = await client_side.submit("When?")
    await ended(client_side, after_rollback)

    jobs = (running, later, after_rollback)
    assert [await release_of(client_side, each) for each in jobs] == [OLD, NEW, OLD]
    releases = await list_releases(client_side.temporal, client_side.holdfast.settings.task_queue)
    assert [(each.name, each.is_current) for each in releases] == [(NEW, False), (OLD, True)]


@pytest.mark.long
async def test_a_job_whose_release_is_gone_for_ever_moves_without_a_second_payment(
    client_side: RunningEngine, workers: WorkerLauncher, held: HeldAnswer
) -> None:
    gone = await workers.start(HOLDFAST_RELEASE=OLD)
    job_id = await paused_job(client_side, held)
    queue = client_side.holdfast.settings.task_queue
    with pytest.raises(BadInput, match="is current"):
        await move_jobs(client_side.temporal, queue, OLD)
    await workers.start(HOLDFAST_RELEASE=NEW)
    await let_begin(client_side, NEW)
    with pytest.raises(BadInput, match=f"{OLD}' has workers that polled within"):
        await move_jobs(client_side.temporal, queue, OLD)
    gone.process.send_signal(signal.SIGKILL)
    await gone.ended()

    command = (sys.executable, "-m", "holdfast.services.worker.worker_releases", "move", OLD)
    # Temporal misses a killed worker only after a minute.
    said = await workers.run(*command, "--even-if-polling")
    await go_on(client_side, job_id)

    assert said == f"jobs that begin again with the current release: {job_id}\n"
    assert await release_of(client_side, job_id) == NEW
    assert {call.sends for call in await job_calls(client_side.db, job_id)} == {1}


@pytest.mark.long
async def test_without_a_current_release_new_jobs_go_to_workers_that_have_none(
    client_side: RunningEngine, workers: WorkerLauncher, held: HeldAnswer
) -> None:
    queue = client_side.holdfast.settings.task_queue
    await workers.start(HOLDFAST_RELEASE=OLD)
    running = await paused_job(client_side, held)
    await workers.start()

    command = (sys.executable, "-m", "holdfast.services.worker.worker_releases", "current")
    said = await workers.run(*command, "--none")
    again = await workers.run(*command, "--none")
    later = await client_side.submit("When?")
    await ended(client_side, later)
    await go_on(client_side, running)

    assert said.startswith("new jobs begin with workers without a release")
    assert again == "no release was current\n"
    assert [await release_of(client_side, each) for each in (running, later)] == [OLD, ""]
    assert not any(e.is_current for e in await list_releases(client_side.temporal, queue))


@pytest.mark.conformance("REC-06")
@pytest.mark.long
async def test_the_run_of_a_schedule_outlives_the_release_that_began_it(
    client_side: RunningEngine, workers: WorkerLauncher, held: HeldAnswer
) -> None:
    holdfast = client_side.holdfast
    gone = await workers.start(HOLDFAST_RELEASE=OLD)
    made = await schedule_question(
        holdfast, SCHEDULED, ScheduleTerms(times="weekly on monday 08:00")
    )
    await run_now(holdfast, made.id, None)
    await held.asked()
    (run,) = await runs_of_schedule(holdfast, made.id, None, limit=100)
    assert run.job_id is not None
    await put_to_rest(client_side, run.job_id, held)
    gone.process.send_signal(signal.SIGKILL)
    await gone.ended()
    await workers.start(HOLDFAST_RELEASE=NEW)
    await let_begin(client_side, NEW)
    here = f"TaskQueue = '{holdfast.settings.task_queue}' and ExecutionStatus = 'Running'"
    query = f"WorkflowType = 'scheduled_run' and {here}"
    (waiting,) = [each async for each in client_side.temporal.list_workflows(query)]

    moved = await move_jobs(
        _ListsEndedToo(client_side.temporal),  # type: ignore[arg-type]  # what `move` asks of it
        holdfast.settings.task_queue,
        OLD,
        even_if_polling=True,
    )
    await go_on(client_side, run.job_id)

    assert moved == [run.job_id]
    # It sees the end of its job, and ends as well.
    async with asyncio.timeout(120):
        await client_side.temporal.get_workflow_handle(waiting.id, run_id=waiting.run_id).result()
