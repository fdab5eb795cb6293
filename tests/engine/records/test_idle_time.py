"""Tests that a job's time leaves out how long the ended job lay idle until it was opened again."""

import pytest
from sqlalchemy import text

from holdfast.jobs.job_controller import JobController
from holdfast.models.jobs.job_filter import JobFilter
from holdfast.storage.views.earlier_job_amounts import load_earlier_amounts
from holdfast.storage.views.usual_usage_queries import load_usual_usage
from tests.support.endpoints.scripted_roles import ScriptedRoles
from tests.support.jobs.plan_builders import final_task, lookup_task, plan
from tests.support.jobs.running_engine import RunningEngine
from tests.support.tools.scripted_tools import ScriptedTools

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]
DAY_S = 86_400
A_DAY_AGO = (
    "set local session_replication_role = replica",  # the log refuses changes
    "update events set at = at - interval '1 day' where job_id = :job",
    """update jobs set created_at = created_at - interval '1 day',
        finished_at = finished_at - interval '1 day' where id = :job""",
)


@pytest.fixture(autouse=True)
def scripted(players: ScriptedRoles, tools: ScriptedTools) -> None:
    tools.answers = lambda argument: f"found {argument}"
    players.plan = plan(lookup_task("T1", query="a"), final_task("T2", "T1"))


async def test_a_job_that_was_run_again_a_day_later_did_not_take_a_day(
    engine: RunningEngine,
) -> None:
    first = await engine.run("Who built the pier?")
    async with engine.db.engine.begin() as connection:
        for statement in A_DAY_AGO:
            given = {"job": first.job_id} if ":job" in statement else {}
            await connection.execute(text(statement), given)

    await JobController(engine.holdfast, "maria").retry(first.job_id, ["T2"])
    await engine.holdfast.wait(first.job_id)
    again = await engine.holdfast.show(first.job_id)
    [line] = await engine.holdfast.list_jobs(JobFilter())

    assert first.seconds is not None
    assert again.seconds is not None
    assert first.seconds < again.seconds < DAY_S / 2
    assert line.seconds == again.seconds


async def test_an_estimate_knows_nothing_of_jobs_that_were_run_again(
    engine: RunningEngine,
) -> None:
    job_id = (await engine.run("Who built the pier?")).job_id
    usual = await load_usual_usage(engine.db, "kpi-chain", "scripted")
    amounts = await load_earlier_amounts(engine.db, "scripted", None)

    await JobController(engine.holdfast, "maria").retry(job_id, ["T2"])
    await engine.holdfast.wait(job_id)

    assert usual is not None
    assert amounts["kpi-chain"].jobs == 1
    assert await load_usual_usage(engine.db, "kpi-chain", "scripted") is None
    assert await load_earlier_amounts(engine.db, "scripted", None) == {}
