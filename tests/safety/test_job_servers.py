"""Tests that a request can choose among the operator's servers and can start nothing else."""

import json
import sys
from pathlib import Path

import pytest
from pydantic import BaseModel
from temporalio.client import Client

from holdfast.models.jobs.job_record import JobRequest
from holdfast.models.strategies.job_strategy import Strategy
from holdfast.roles.planning.planner import PLANNER
from holdfast.storage.views import job_queries
from holdfast.tools.optional_parts import OptionalPart
from tests.support.endpoints.scripted_model import ScriptedModel
from tests.support.endpoints.scripted_roles import ScriptedRoles
from tests.support.jobs.plan_builders import final_task, lookup_task, plan
from tests.support.jobs.running_engine import running_engine
from tests.support.services.command_shell import command_shell
from tests.support.tools.missing_parts import hide_parts
from tests.support.tools.scripted_tools import ScriptedTools

pytestmark = pytest.mark.slow
FOLDER_SERVER = str(Path("tests/servers/document_folder_server.py").absolute())


def test_a_request_has_no_place_for_a_command_a_path_or_an_address() -> None:
    """A new field is looked at here before it is let in."""
    assert set(JobRequest.model_fields) == {
        "question",
        "preset",
        "model",
        "strategy",
        "collection",
        "servers",
        "owner",
        "follow_up",
        "fork",
    }
    texts = {
        name for name, each in Strategy.model_fields.items() if each.annotation in (str, str | None)
    }
    assert texts == {"verifier_model", "fallback_model"}
    inner = [each.annotation for each in Strategy.model_fields.values()]
    assert not any(isinstance(each, type) and issubclass(each, BaseModel | Path) for each in inner)


async def test_a_job_is_offered_and_calls_the_tools_of_its_servers_alone(
    temporal: Client,
    database_url: str,
    tmp_path: Path,
    model: ScriptedModel,
    tools: ScriptedTools,
    players: ScriptedRoles,
) -> None:
    tools.answers = lambda asked: f"found {asked}"
    toml = f"[servers.kb]\ncommand = {json.dumps([sys.executable, FOLDER_SERVER, str(tmp_path)])}\n"
    players.plan = plan(lookup_task("T1", query="a"), final_task("T2", "T1"))
    async with running_engine(
        temporal, database_url, tmp_path, model_url=model.url, tools_url=tools.url, toml=toml
    ) as engine:
        allowed = await engine.run("Who?", servers=("lab",))
        assert allowed.status == "done", allowed.message
        offered = {each.partition(".")[0] for each in players.tasks(PLANNER)[0]["tools"]}
        assert offered == {"lab"}
        tools.called.clear()

        refused = await engine.run("Who?", servers=("kb",))
        assert (refused.status, refused.stop_reason) == ("failed", "planning_failed")
        unknown = await engine.run("Who?", servers=("evil",))
        assert (
            "there is no server 'evil'; there are: charts, corpus, kb, lab, python"
            in unknown.message
        )
        assert tools.called == []


async def test_a_job_is_told_which_part_a_server_needs(
    temporal: Client,
    database_url: str,
    tmp_path: Path,
    model: ScriptedModel,
    tools: ScriptedTools,
    players: ScriptedRoles,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    hide_parts(monkeypatch, OptionalPart.CHARTS)
    tools.answers = lambda asked: f"found {asked}"
    players.plan = plan(lookup_task("T1", query="a"), final_task("T2", "T1"))
    async with running_engine(
        temporal, database_url, tmp_path, model_url=model.url, tools_url=tools.url
    ) as engine:
        refused = await engine.run("Who?", servers=("charts",))
        allowed = await engine.run("Who?")
        events = await job_queries.events_after(engine.db, allowed.job_id, 0)

    needed = "drawing charts needs the part 'charts': pip install 'holdfast[charts]'"
    assert (refused.status, needed in refused.message) == ("failed", True)
    assert allowed.status == "done", allowed.message
    offered = {each.partition(".")[0] for each in players.tasks(PLANNER)[-1]["tools"]}
    assert offered == {"corpus", "lab", "python"}
    left_out = [event.facts for event in events if event.kind == "tool.left_out"]
    assert left_out == [{"fault": needed, "missing_server": "charts"}]


def test_a_server_that_is_not_there_is_refused_before_anything_is_started() -> None:
    with command_shell() as here:
        ran = here.holdfast(
            "run", "Who?", "--servers", "corpus,sh -c evil", "--model", "extractive"
        )

        assert "there is no server 'sh -c evil'; there are: charts, corpus, python" in ran.refused()
        assert not here.has_started_services
