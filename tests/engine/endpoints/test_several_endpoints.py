"""Tests of jobs whose roles are played by models at several endpoints, each with its own key."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from temporalio.client import Client

from holdfast.models.wire.role_names import RoleName
from holdfast.storage.jobs import job_rows
from holdfast.storage.views import job_queries
from tests.support.endpoints.scripted_model import ScriptedModel, ScriptedReply
from tests.support.endpoints.scripted_roles import ScriptedRoles
from tests.support.jobs.plan_builders import final_task, lookup_task, plan
from tests.support.jobs.running_engine import running_engine
from tests.support.tools.scripted_tools import ScriptedTools

TABLES = """
[models.big]
id = "maker/big-5"
url = "{big}"
key_env = "BIG_KEY"
price = {{ input = 2, output = 8 }}

[models.local]
url = "{local}"
"""


@pytest.fixture(autouse=True)
def page(players: ScriptedRoles, tools: ScriptedTools, monkeypatch: pytest.MonkeyPatch) -> None:
    players.plan = plan(lookup_task("T1"), final_task("T2", "T1"))
    tools.answers = {"q": "The bridge was opened in 1932."}
    monkeypatch.setenv("BIG_KEY", "the-key-of-big")


@pytest.fixture
def big(players: ScriptedRoles) -> Iterator[ScriptedModel]:
    with ScriptedModel(players) as server:
        yield server


@pytest.fixture
def local(players: ScriptedRoles) -> Iterator[ScriptedModel]:
    with ScriptedModel(players) as server:
        yield server


@pytest.mark.slow
@pytest.mark.conformance("MOD-01")
async def test_each_role_is_played_at_its_models_endpoint_with_that_endpoints_key(
    temporal: Client,
    database_url: str,
    tmp_path: Path,
    tools: ScriptedTools,
    model: ScriptedModel,
    big: ScriptedModel,
    local: ScriptedModel,
) -> None:
    toml = TABLES.format(big=big.url, local=local.url)
    async with running_engine(
        temporal,
        database_url,
        tmp_path,
        model_url=model.url,
        tools_url=tools.url,
        toml=toml,
        key="the-key-of-openai",
    ) as engine:
        job = await engine.run("When?", role_models="planner=big,extractor=local")
        calls = await job_queries.job_calls(engine.db, job.job_id)
        stored = await job_rows.load_job(engine.db, job.job_id)

    assert (job.status, job.stop_reason) == ("done", "answered")
    by_role = {call.role: call for call in calls if call.kind == "model"}
    assert by_role["planner"].cost is not None
    assert by_role["extractor"].cost is None
    assert {asked.body["model"] for asked in big.asked} == {"maker/big-5"}
    assert {asked.body["model"] for asked in local.asked} == {"local"}
    assert {asked.body["model"] for asked in model.asked} == {"scripted"}
    assert len(big.asked) == len(local.asked) == 1
    keys = [
        {asked.headers["authorization"] for asked in server.asked} for server in (big, local, model)
    ]
    assert keys == [{"Bearer the-key-of-big"}, {"Bearer none"}, {"Bearer the-key-of-openai"}]
    assert dict(stored.request.strategy.role_models) == {
        RoleName.PLANNER: "big",
        RoleName.EXTRACTOR: "local",
    }


@pytest.mark.slow
@pytest.mark.conformance("MOD-02")
async def test_a_fallback_may_stand_at_another_endpoint(
    temporal: Client,
    database_url: str,
    tmp_path: Path,
    tools: ScriptedTools,
    local: ScriptedModel,
) -> None:
    away = ScriptedReply(status=503, error={"message": "overloaded"})
    with ScriptedModel(lambda _: away) as down:
        toml = TABLES.format(big=down.url, local=local.url)
        async with running_engine(
            temporal, database_url, tmp_path, tools_url=tools.url, toml=toml
        ) as engine:
            job = await engine.run(
                "When?", model="big", fallback_model="local", fallback_after="PT0S"
            )

    assert (job.status, job.stop_reason) == ("done", "answered")
    assert {asked.headers["authorization"] for asked in down.asked} == {"Bearer the-key-of-big"}
    assert {asked.headers["authorization"] for asked in local.asked} == {"Bearer none"}
    assert {asked.body["model"] for asked in local.asked} == {"local"}
