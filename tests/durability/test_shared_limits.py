"""Tests that worker processes together stay within a model's limits, also after one is killed."""

import asyncio
import signal
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import text
from temporalio.client import Client

from holdfast.storage.views import job_queries
from tests.durability.short_window_worker import WINDOW_S
from tests.durability.worker_launcher import WorkerLauncher
from tests.support.endpoints.scripted_model import ScriptedModel, ScriptedReply
from tests.support.endpoints.scripted_roles import ScriptedRoles
from tests.support.jobs.plan_builders import final_task, lookup_task, plan
from tests.support.jobs.running_engine import RunningEngine, running_engine
from tests.support.tools.scripted_tools import ScriptedTools

pytestmark = [pytest.mark.slow, pytest.mark.timeout(170)]

REQUESTS = 3
LIMITED = """
[models.limited]
requests_per_minute = {requests}
"""


LimitedEngine = Callable[[str], AbstractAsyncContextManager[RunningEngine]]


@pytest.fixture
def limited_engine(
    temporal: Client, database_url: str, tmp_path: Path, model: ScriptedModel, tools: ScriptedTools
) -> LimitedEngine:
    """An engine whose workers are processes of their own, with this `holdfast.toml`."""
    return lambda toml: running_engine(
        temporal,
        database_url,
        tmp_path,
        model_url=model.url,
        tools_url=tools.url,
        toml=toml,
        polls=False,
    )


@pytest.mark.conformance("MOD-03")
@pytest.mark.long
async def test_two_workers_together_stay_within_the_limit_of_a_model(
    limited_engine: LimitedEngine,
    tmp_path: Path,
    players: ScriptedRoles,
    model: ScriptedModel,
    tools: ScriptedTools,
) -> None:
    players.plan = plan(lookup_task("T1"), lookup_task("T2"), final_task("T3", "T1", "T2"))
    tools.answers = lambda query: f"The bridge of {query} was opened in 1932."
    async with limited_engine(LIMITED.format(requests=REQUESTS)) as engine:
        workers = WorkerLauncher(engine, tmp_path)
        try:
            for _ in range(2):
                await workers.start(program=("-m", "tests.durability.short_window_worker"))
            job_ids = [await engine.submit("When?", model="limited") for _ in range(3)]
            ends = [await engine.holdfast.wait(job_id) for job_id in job_ids]
        finally:
            workers.end()
        async with engine.db.reading() as connection:
            turns = (
                await connection.execute(text("select began_at from model_turns order by 1"))
            ).scalars()
            began: list[datetime] = list(turns)

    assert [job.status.value for job in ends] == ["done"] * 3
    assert model.count == len(began) > 3 * REQUESTS
    window = timedelta(seconds=WINDOW_S)
    for first, beyond in zip(began, began[REQUESTS:], strict=False):
        assert beyond - first >= window


ONE_CALL = """
[models.limited]
calls_at_once = 1
"""


@pytest.mark.conformance("MOD-03")
async def test_a_killed_worker_frees_the_place_that_its_call_held(
    limited_engine: LimitedEngine,
    tmp_path: Path,
    players: ScriptedRoles,
    model: ScriptedModel,
    tools: ScriptedTools,
) -> None:
    """Its lease is ten minutes long: the call itself, sent again, must end its own turn."""
    players.plan = plan(lookup_task("T1"), final_task("T2", "T1"))
    tools.answers = {"q": "The bridge was opened in 1932."}
    model.push(ScriptedReply.of({}, delay=1000, is_lax=True))
    async with limited_engine(ONE_CALL) as engine:
        workers = WorkerLauncher(engine, tmp_path)
        try:
            first = await workers.start()
            job_ids = [await engine.submit("When?", model="limited")]
            await asyncio.to_thread(model.wait_for, 1, within=60)
            first.process.send_signal(signal.SIGKILL)
            await workers.start()
            job_ids.append(await engine.submit("When?", model="limited"))
            ends = [await engine.holdfast.wait(job_id) for job_id in job_ids]
            calls = [await job_queries.job_calls(engine.db, job_id) for job_id in job_ids]
        finally:
            model.release()
            workers.end()

    assert [job.status.value for job in ends] == ["done"] * 2
    sends = sorted(call.sends for job in calls for call in job if call.kind == "model")
    assert sends == [1] * (len(sends) - 1) + [2]
    assert model.most_at_once == 2  # the endpoint still held the request of the killed worker
