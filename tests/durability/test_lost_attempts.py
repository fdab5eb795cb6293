"""Tests that a worker keeps its calls when Temporal gives an attempt up that the worker still runs.

Temporal does so when heartbeats do not arrive, for example while PostgreSQL of both is away. Here
the test gives the attempt up itself, in the way of a supervisor that saw a worker die.
"""

import asyncio
from datetime import timedelta

import pytest
from temporalio.api.enums.v1 import PendingActivityState
from temporalio.exceptions import ApplicationError

from holdfast.models.jobs.job_record import JobStatus
from holdfast.roles.tasks.extractor import EXTRACTOR
from holdfast.storage.views.job_queries import job_calls
from tests.durability.held_answer import HeldAnswer, eventually
from tests.support.endpoints.scripted_roles import ScriptedRoles
from tests.support.jobs.plan_builders import final_task, lookup_task, plan
from tests.support.jobs.running_engine import RunningEngine
from tests.support.services.restartable_postgres import RestartablePostgres
from tests.support.tools.scripted_tools import ScriptedTools

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180), pytest.mark.conformance("BEY-02")]

_OUTAGE_S = 12.0
"""Longer than two heartbeats and the last try of a cancelled write together."""
_STARTED = PendingActivityState.PENDING_ACTIVITY_STATE_STARTED


@pytest.fixture
def engine(engine_on_server: RunningEngine) -> RunningEngine:
    return engine_on_server


@pytest.fixture
def extraction(players: ScriptedRoles, tools: ScriptedTools) -> HeldAnswer:
    """The held call of a job with one tool task and the answer that rests on it."""
    players.plan = plan(lookup_task("T1", query="lighthouse"), final_task("T2", "T1"))
    tools.answers = {"lighthouse": "It was lit in 1841."}
    held = HeldAnswer(players._extractor)
    players.parts["extractor"] = held
    return held


async def give_up_attempt(engine: RunningEngine, job_id: str) -> None:
    """Let Temporal give the running attempt up, and wait until the next one was tried."""
    handle = engine.temporal.get_workflow_handle(job_id)
    (pending,) = (await handle.describe()).raw_description.pending_activities
    attempt = engine.temporal.get_async_activity_handle(
        workflow_id=job_id, run_id=None, activity_id=pending.activity_id
    )
    error = ApplicationError("no heartbeats", next_retry_delay=timedelta(milliseconds=10))
    await attempt.fail(error)

    async def is_next_tried() -> bool:
        described = await handle.describe()
        return any(
            each.attempt > 2 or (each.attempt == 2 and each.state == _STARTED)
            for each in described.raw_description.pending_activities
        )

    await eventually(is_next_tried)


async def sends_of_done_job(engine: RunningEngine, job_id: str) -> set[int]:
    async with asyncio.timeout(60):
        job = await engine.holdfast.wait(job_id)
    assert job.status is JobStatus.DONE, job.message
    return {call.sends for call in await job_calls(engine.db, job_id)}


async def test_a_reply_outlives_an_outage_in_which_temporal_gives_its_attempt_up(
    engine: RunningEngine,
    server: RestartablePostgres,
    players: ScriptedRoles,
    extraction: HeldAnswer,
) -> None:
    job_id = await engine.submit("When?")
    await extraction.asked()
    await asyncio.to_thread(server.kill)
    extraction.may_answer.set()

    async def is_away() -> bool:
        return engine.db.away_since is not None

    await eventually(is_away)
    await give_up_attempt(engine, job_id)
    await asyncio.sleep(_OUTAGE_S)  # the outage itself
    await asyncio.to_thread(server.start)

    assert await sends_of_done_job(engine, job_id) == {1}
    assert players.count(EXTRACTOR) == 1


@pytest.mark.long
async def test_a_call_under_way_is_waited_for_after_temporal_gave_its_attempt_up(
    engine: RunningEngine, players: ScriptedRoles, extraction: HeldAnswer
) -> None:
    job_id = await engine.submit("When?")
    await extraction.asked()
    await give_up_attempt(engine, job_id)
    await asyncio.sleep(4)  # more than two heartbeats: the worker hears of it
    extraction.may_answer.set()

    assert await sends_of_done_job(engine, job_id) == {1}
    assert players.count(EXTRACTOR) == 1
