"""Test that one worker with the default settings holds a hundred calls in flight (OPS-02)."""

import asyncio
from pathlib import Path

import pytest
from sqlalchemy import text
from temporalio.client import Client

from holdfast.models.plans.research_plan import ExpectedEntity, Task, TaskKind
from tests.support.endpoints.scripted_model import ScriptedModel, ScriptedReply
from tests.support.endpoints.scripted_roles import ScriptedRoles
from tests.support.jobs.plan_builders import final_task, plan
from tests.support.jobs.running_engine import RunningEngine, running_engine

pytestmark = pytest.mark.slow

CALLS = 100
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


@pytest.mark.timeout(300)
async def test_a_hundred_calls_are_in_flight_at_once_in_one_worker(
    temporal: Client, database_url: str, tmp_path: Path, players: ScriptedRoles
) -> None:
    thoughts = [thought(number) for number in range(1, CALLS + 1)]
    players.plan = plan(*thoughts, final_task("T101", *(task.id for task in thoughts)))
    # The endpoint holds every reply until all calls are there; then the job ends at once.
    players.parts["reasoner"] = lambda _: ScriptedReply(
        status=400, error={"message": "enough"}, delay=UNTIL_RELEASED_S
    )
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
