"""Tests that one worker with the default settings holds a hundred calls in flight, and that each
worker adds as many as it has slots."""

import asyncio
from pathlib import Path

import pytest
from sqlalchemy import text
from temporalio.client import Client

from holdfast.models.plans.research_plan import ExpectedEntity, Task, TaskKind
from tests.durability.worker_launcher import WorkerLauncher
from tests.support.endpoints.scripted_model import ScriptedModel, ScriptedReply
from tests.support.endpoints.scripted_roles import ScriptedRoles
from tests.support.jobs.plan_builders import final_task, plan
from tests.support.jobs.running_engine import RunningEngine, running_engine

pytestmark = [pytest.mark.slow, pytest.mark.conformance("OPS-02")]

CALLS = 100
SLOTS = 2
UNTIL_RELEASED_S = 3600
WITHIN_S = 120


def thought(number: int) -> Task:
    return Task(
        id=f"T{number}",
        kind=TaskKind.REASONING,
        description=f"think about {number}",
        expects=(ExpectedEntity(name="value"),),
    )


async def connections_to(engine: RunningEngine) -> int:
    query = "select count(*) from pg_stat_activity where datname = current_database()"
    async with engine.db.reading() as connection:
        return int((await connection.execute(text(query))).scalar_one())


def held_thoughts(players: ScriptedRoles, count: int) -> None:
    """Let a plan think `count` thoughts at once; the endpoint holds every reply until released."""
    thoughts = [thought(number) for number in range(1, count + 1)]
    final = final_task(f"T{count + 1}", *(task.id for task in thoughts))
    players.plan = plan(*thoughts, final)
    # The job ends at once when the first reply comes.
    players.parts["reasoner"] = lambda _: ScriptedReply(
        status=400, error={"message": "enough"}, delay=UNTIL_RELEASED_S
    )


@pytest.mark.timeout(300)
async def test_a_hundred_calls_are_in_flight_at_once_in_one_worker(
    temporal: Client, database_url: str, tmp_path: Path, players: ScriptedRoles
) -> None:
    held_thoughts(players, CALLS)
    with ScriptedModel(players) as model:
        async with running_engine(temporal, database_url, tmp_path, model_url=model.url) as engine:
            job_id = await engine.submit("Who?", slots=CALLS)
            try:
                await asyncio.to_thread(
                    model.wait_until, lambda: model.most_at_once >= CALLS, within=WITHIN_S
                )
                connections = await connections_to(engine)
            finally:
                model.release()
            await engine.holdfast.wait(job_id)

    # A call in flight holds no connection: these are the pools of docs/servers.md, and the test's.
    assert connections <= 2 * engine.holdfast.settings.pool_size + 4 + 1


@pytest.mark.timeout(400)
@pytest.mark.long
async def test_each_worker_adds_as_many_calls_as_it_has_slots(
    client_side: RunningEngine,
    workers: WorkerLauncher,
    model: ScriptedModel,
    players: ScriptedRoles,
) -> None:
    held_thoughts(players, 10)
    await client_side.submit("Who?", slots=10)
    most = []
    try:
        for count in (1, 2, 3):
            await workers.start(HOLDFAST_MAX_CONCURRENT_TASKS=str(SLOTS))
            await asyncio.to_thread(
                model.wait_until, lambda n=count: model.most_at_once >= SLOTS * n, within=WITHIN_S
            )
            most.append(model.most_at_once)
    finally:
        model.release()

    assert most == [SLOTS, 2 * SLOTS, 3 * SLOTS]
