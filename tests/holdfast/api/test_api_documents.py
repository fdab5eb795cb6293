"""Tests for documents over HTTP: the same documents as the commands print, and errors as JSON."""

from collections.abc import Iterator

import pytest

from holdfast.jobs.current_status import status_of
from holdfast.jobs.job_lookup import newest_jobs, plan_of, report_of
from holdfast.models.jobs.job_filter import JobFilter
from holdfast.reports.markdown_and_json_rendering import to_json
from holdfast.settings import Endpoints
from tests.support.endpoints.scripted_roles import ScriptedRoles
from tests.support.jobs.plan_builders import final_task, lookup_task, plan
from tests.support.jobs.running_engine import RunningEngine
from tests.support.services.http_service import HttpService
from tests.support.tools.scripted_tools import ScriptedTools

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def _answering(tools: ScriptedTools) -> None:
    tools.answers = lambda argument: f"found {argument}"


@pytest.fixture
def serving(engine: RunningEngine) -> Iterator[HttpService]:
    with HttpService(engine.holdfast) as serving:
        yield serving


async def test_every_document_is_the_one_that_its_command_prints(
    engine: RunningEngine, players: ScriptedRoles, serving: HttpService
) -> None:
    players.plan = plan(lookup_task("T1", query="a"), final_task("T2", "T1"))
    job_id = (await engine.run("Who?")).job_id
    job = f"/jobs/{job_id}"
    status = await status_of(engine.holdfast, job_id)
    found = {
        path: (await serving.get(path)).json()
        for path in (
            "/jobs",
            job,
            f"{job}/plan",
            f"{job}/report",
            f"{job}/status",
        )
    }

    lines = await newest_jobs(engine.holdfast, JobFilter())
    assert found["/jobs"] == [line.model_dump(mode="json") for line in lines]
    assert found[job] == (await engine.holdfast.show(job_id)).model_dump(mode="json")
    tasks = (await plan_of(engine.holdfast, job_id)).tasks
    assert found[f"{job}/plan"] == [task.model_dump(mode="json") for task in tasks]
    assert found[f"{job}/report"] == to_json(await report_of(engine.holdfast, job_id))
    expected = status.model_dump(mode="json", exclude={"at"})
    assert {k: v for k, v in found[f"{job}/status"].items() if k != "at"} == expected


async def test_jobs_are_listed_newest_first_by_status_and_up_to_a_limit(
    engine: RunningEngine, players: ScriptedRoles, serving: HttpService
) -> None:
    players.plan = plan(lookup_task("T1", query="a"), final_task("T2", "T1"))
    first, second = [(await engine.run("Who?")).job_id for _ in range(2)]

    listed = (await serving.get("/jobs")).json()
    one = (await serving.get("/jobs?limit=1&status=done&preset=kpi-chain")).json()
    none = (await serving.get("/jobs?status=failed")).json()

    assert [line["job_id"] for line in listed] == [second, first]
    assert [line["job_id"] for line in one] == [second]
    assert none == []


async def test_a_report_that_is_not_written_yet_is_not_found(
    engine: RunningEngine, serving: HttpService
) -> None:
    job_id = await engine.submit("Who?")

    answer = await serving.get(f"/jobs/{job_id}/report")

    assert answer.status_code == 404
    assert job_id in answer.json()["message"]
    assert "errors" not in answer.json(), "the path is right"


async def test_a_method_that_a_resource_does_not_have_is_refused(
    engine: RunningEngine, serving: HttpService
) -> None:
    async with serving.client() as client:
        answers = [await client.request(m, "/presets") for m in ("POST", "PUT", "DELETE", "PATCH")]

    assert {answer.status_code for answer in answers} == {405}
    assert {answer.json()["error"] for answer in answers} == {"BadInput"}
    assert answers[0].headers["allow"] == "GET"
    assert "use GET" in answers[0].json()["detail"]


async def test_a_database_that_is_away_is_said_to_be(engine: RunningEngine) -> None:
    away = Endpoints(
        database_url="postgresql+psycopg://nobody@127.0.0.1:1/none?connect_timeout=2",
        temporal_address="127.0.0.1:1",
        temporal_namespace="default",
        temporal_ui=None,
        embedded_database=False,
        embedded_temporal=False,
    )
    holdfast = type(engine.holdfast)(engine.holdfast.settings, away, engine.db)

    with HttpService(holdfast) as serving:
        answers = [await serving.get(path) for path in ("/jobs", "/jobs/x", "/jobs/x/events")]

    assert {answer.status_code for answer in answers} == {503}
    assert {answer.json()["error"] for answer in answers} == {"StorageAway"}
