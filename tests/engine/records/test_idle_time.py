"""Tests that a job's time leaves out how long the ended job lay idle until it was opened again."""

import io
import re
import zipfile

import pytest
from sqlalchemy import text

from holdfast.bundles.bundle_writer import write_bundle
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
    "update plan_changes set created_at = created_at - interval '1 day' where job_id = :job",
    """update model_calls set started_at = started_at - interval '1 day',
        finished_at = finished_at - interval '1 day' where job_id = :job""",
    """update jobs set created_at = created_at - interval '1 day',
        finished_at = finished_at - interval '1 day' where id = :job""",
)


@pytest.fixture(autouse=True)
def scripted(players: ScriptedRoles, tools: ScriptedTools) -> None:
    tools.answers = lambda argument: f"found {argument}"
    players.plan = plan(lookup_task("T1", query="a"), final_task("T2", "T1"))


async def a_day_ago(engine: RunningEngine, job_id: str) -> None:
    """Let everything that the job has recorded have happened a day earlier."""
    async with engine.db.engine.begin() as connection:
        for statement in A_DAY_AGO:
            given = {"job": job_id} if ":job" in statement else {}
            await connection.execute(text(statement), given)


async def seconds_of_bundle_page(engine: RunningEngine, job_id: str) -> list[float]:
    """The time of each row under the plan's bars."""
    out = io.BytesIO()
    await write_bundle(engine.holdfast, job_id, out)
    with zipfile.ZipFile(out) as bundle:
        page = bundle.read("index.html").decode()
    return [float(each) for each in re.findall(r"<td>([\d.]+) s</td>", page)]


async def test_a_job_that_was_run_again_a_day_later_did_not_take_a_day(
    engine: RunningEngine,
) -> None:
    first = await engine.run("Who built the pier?")
    await a_day_ago(engine, first.job_id)

    await JobController(engine.holdfast, "maria").retry(first.job_id, ["T2"])
    await engine.holdfast.wait(first.job_id)
    again = await engine.holdfast.show(first.job_id)
    [line] = await engine.holdfast.list_jobs(JobFilter())
    rows = await seconds_of_bundle_page(engine, first.job_id)

    assert first.seconds is not None
    assert again.seconds is not None
    assert first.seconds < again.seconds < DAY_S / 2
    assert line.seconds == again.seconds
    assert 0 < max(rows) < DAY_S / 2


async def test_a_job_that_was_planned_first_is_an_earlier_job_without_its_idle_time(
    engine: RunningEngine,
) -> None:
    planned = await engine.run("Who built the pier?", plan_only=True)
    await a_day_ago(engine, planned.job_id)
    only_planned = await load_usual_usage(engine.db, "kpi-chain", "scripted")

    await JobController(engine.holdfast, "maria").resume(planned.job_id)
    await engine.holdfast.wait(planned.job_id)
    usual = await load_usual_usage(engine.db, "kpi-chain", "scripted")
    amounts = await load_earlier_amounts(engine.db, "scripted", None)
    shown = await engine.holdfast.show(planned.job_id)

    assert only_planned is None
    assert usual is not None
    assert shown.seconds is not None
    assert usual.seconds == pytest.approx(shown.seconds, abs=0.01)
    assert amounts["kpi-chain"].seconds == pytest.approx(shown.seconds, abs=0.01)
    assert shown.estimate is not None
    assert shown.estimate.actual.seconds is not None
    assert shown.estimate.actual.seconds <= shown.seconds < DAY_S / 2


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
