"""Tests for forking jobs over HTTP and with the Python client."""

from collections.abc import Iterator

import pytest
from sqlalchemy import select

from holdfast import AsyncClient
from holdfast.storage.core.tables.job_tables import jobs
from holdfast.storage.jobs import job_rows
from tests.support.endpoints.scripted_roles import ScriptedRoles
from tests.support.jobs.plan_builders import final_task, lookup_task, plan
from tests.support.jobs.running_engine import RunningEngine
from tests.support.services.http_service import HttpService
from tests.support.tools.scripted_tools import ScriptedTools

pytestmark = [pytest.mark.slow, pytest.mark.conformance("BEY-05")]


@pytest.fixture
def serving(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools
) -> Iterator[HttpService]:
    tools.answers = lambda argument: f"found {argument}"
    players.plan = plan(lookup_task("T1", query="a"), final_task("T2", "T1"))
    with HttpService(engine.holdfast, writes=True) as serving:
        yield serving


async def test_a_fork_is_shown_first_and_made_once_for_each_key(
    engine: RunningEngine, serving: HttpService, tools: ScriptedTools
) -> None:
    first = (await engine.run("Who?")).job_id
    question = {"T1": "find it elsewhere"}
    async with AsyncClient(serving.url, serving.token) as client:
        shown = await client.preview_fork(first, questions=question)
        forked = await client.fork(first, questions=question, key="mine")
        again = await client.fork(first, questions=question, key="mine")
        ended = await client.wait(forked["job_id"])
        parent = await client.job(first)

    assert [(each["task"], each["why"]) for each in shown["rerun"]] == [
        ("T1", "changed"),
        ("T2", "downstream"),
    ]
    assert (shown["kept"], shown["rerun"][0]["description"]) == ([], "find it elsewhere")
    assert again["job_id"] == forked["job_id"]
    assert (ended.status, ended.forked_from) == ("done", first)
    assert parent.forks == (forked["job_id"],)
    assert len(tools.called) == 1
    assert (await job_rows.load_job(engine.db, forked["job_id"])).request.fork is not None


@pytest.mark.conformance("OPS-10")
async def test_forks_and_updates_belong_to_the_key_that_asked_for_them(
    engine: RunningEngine, serving: HttpService
) -> None:
    first = (await engine.run("Who?")).job_id
    body = {"name": "laptop", "owner": "maria", "scopes": ["read", "ask", "steer", "admin"]}
    async with serving.client() as client:
        made = (await client.post("/keys", json=body)).json()
    async with AsyncClient(serving.url, made["key"]) as client:
        forked = await client.fork(first, questions={"T1": "find it elsewhere"})
        updated = await client.update(first, search=True)
        for started in (forked["job_id"], updated["job_id"]):
            await client.wait(started)

    async with engine.db.reading() as connection:
        rows = (await connection.execute(select(jobs.c.id, jobs.c.key_id))).all()
    keys = {row.id: row.key_id for row in rows}
    assert keys == {
        first: "",
        forked["job_id"]: made["details"]["id"],
        updated["job_id"]: made["details"]["id"],
    }
