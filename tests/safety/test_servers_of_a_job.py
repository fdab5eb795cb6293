"""Who asks may choose among the servers that the operator named, and can start nothing."""

import json
import sys
from pathlib import Path

import pytest
from pydantic import BaseModel
from temporalio.client import Client

from models.jobs import JobRequest
from models.strategy import Strategy
from roles.planner import PLANNER
from tests.support.cli import shell
from tests.support.engine import running_engine
from tests.support.plans import final, plan, tool
from tests.support.players import Players
from tests.support.scripted_model import ScriptedModel
from tests.support.scripted_tools import ScriptedTools

pytestmark = pytest.mark.slow
SHELF = str(Path("tests/servers/shelf.py").absolute())


def test_a_request_has_no_place_for_a_command_a_path_or_an_address() -> None:
    """A new field is looked at here before it is let in."""
    assert set(JobRequest.model_fields) == {
        "question", "preset", "model", "strategy", "collection", "servers", "owner",
    }  # fmt: skip
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
    players: Players,
) -> None:
    tools.answers = lambda asked: f"found {asked}"
    toml = f"[servers.kb]\ncommand = {json.dumps([sys.executable, SHELF, str(tmp_path)])}\n"
    players.plan = plan(tool("T1", query="a"), final("T2", "T1"))
    async with running_engine(
        temporal, database_url, tmp_path, model_url=model.url, tools_url=tools.url, toml=toml
    ) as engine:
        allowed = await engine.run("Who?", servers=("lab",))
        assert allowed.status == "done", allowed.message
        offered = {each["name"].partition(".")[0] for each in players.tasks(PLANNER)[0]["tools"]}
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


def test_a_server_that_is_not_there_is_refused_before_anything_is_started() -> None:
    with shell() as here:
        ran = here.holdfast(
            "run", "Who?", "--servers", "corpus,sh -c evil", "--model", "extractive"
        )

        assert "there is no server 'sh -c evil'; there are: charts, corpus, python" in ran.refused()
        assert not here.has_started_services
