"""Tests for agents and servers that `holdfast.toml` alone adds."""

import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client

from holdfast.jobs.job_controller import JobController
from holdfast.models.errors import BadConfiguration
from holdfast.roles.agents.assessor import ASSESSOR
from holdfast.roles.agents.stepper import STEPPER
from holdfast.roles.dialogue.role_definition import Role
from holdfast.roles.planning.planner import AGENT_TASK_PLANNER
from holdfast.roles.reports.synthesiser import SYNTHESISER
from holdfast.roles.tasks.extractor import EXTRACTOR
from tests.support.endpoints.scripted_model import ReceivedRequest, ScriptedModel
from tests.support.endpoints.scripted_roles import ScriptedRoles
from tests.support.jobs.plan_builders import agent_task, plan
from tests.support.jobs.running_engine import running_engine

pytestmark = pytest.mark.slow

LAB = Path(__file__).parents[2] / "servers" / "failing_tools_server.py"
SERVER = f"""
[servers.patents]
command = ['{sys.executable}', '{LAB}']

[agents.inventor]
tier = "data"
description = "Finds out who invented something."
tools = ["patents.echo"]
instructions = "Name the patent."
"""


def _echo(asked: ReceivedRequest) -> object:
    """Has the specification echoed, then hands it on."""
    done = [step for step in asked.task["trace"] if step["status"] == "done"]
    if done and (len(done) > 1 or asked.task["must_end"]):
        said = f"{len(done)} steps; {asked.task['must_end']}"
        return {"outputs": [{"name": "final_answer", "value": said, "confidence": 0.9}]}
    call = {
        "tool": "patents.echo",
        "inputs": [{"name": "text", "value": f"{asked.task['specification']} {len(done)}"}],
        "expects": [{"name": "found"}],
    }
    return {"calls": [call]}


@pytest.mark.conformance("VMAO-05")
async def test_an_agent_and_its_server_are_added_by_configuration_alone(
    temporal: Client,
    database_url: str,
    tmp_path: Path,
    model: ScriptedModel,
    players: ScriptedRoles,
) -> None:
    players.plan = plan(
        agent_task("T1", about="Who made it?", agent="inventor", yields="final_answer")
    )

    async with running_engine(
        temporal, database_url, tmp_path, model_url=model.url, toml=SERVER
    ) as engine:
        players.parts["stepper"] = lambda asked: (
            {
                "outputs": [
                    {"name": "final_answer", "value": asked.task["trace"][-1]["found"]["found"]}
                ]
            }
            if asked.task["trace"]
            else _echo(asked)
        )
        players.parts["assessor"] = lambda asked: (
            {
                "status": "completed",
                "outputs": [{"name": "final_answer", "value": "<JSON_PATH>T1.1.found</JSON_PATH>"}],
            }
        )
        job = await engine.run("Who made it?", preset_name="tdp")

    assert (job.status, job.answer) == ("done", "Who made it? 0")
    (step,) = [task for task in job.tasks if task.id == "T1.1"]
    assert step.tool == "patents.echo"
    offered = {each["name"]: each for each in players.tasks(AGENT_TASK_PLANNER)[0]["agents"]}
    assert offered["inventor"] == {
        "name": "inventor",
        "description": "Finds out who invented something.",
        "tools": ["patents.echo"],
    }
    assert "financial" not in offered, "it has no tool that is there"
    told = players.tasks(STEPPER)[0]
    assert told["instructions"] == "Name the patent."
    assert [tool.partition("(")[0] for tool in told["tools"]] == ["patents.echo"]


@pytest.mark.long
async def test_an_agents_own_model_plays_its_roles_and_those_of_its_steps_alone(
    temporal: Client,
    database_url: str,
    tmp_path: Path,
    model: ScriptedModel,
    players: ScriptedRoles,
) -> None:
    players.plan = plan(
        agent_task("T1", about="Who made it?", agent="inventor", yields="final_answer")
    )
    players.parts["stepper"] = _echo
    players.parts["assessor"] = lambda asked: (
        {"status": "completed", "outputs": [{"name": "final_answer", "value": "it"}]}
    )

    async with running_engine(
        temporal, database_url, tmp_path, model_url=model.url, toml=SERVER + 'model = "keen"\n'
    ) as engine:
        job = await engine.run("Who made it?", preset_name="tdp")

    assert job.answer == "it"

    def models(role: Role[Any, Any]) -> set[str]:
        return {asked.body["model"] for asked in players.asked[role.name]}

    assert models(STEPPER) == models(ASSESSOR) == models(EXTRACTOR) == {"keen"}
    assert models(AGENT_TASK_PLANNER) == models(SYNTHESISER) == {"scripted"}


@pytest.mark.long
async def test_an_agent_concludes_after_its_own_number_of_steps(
    temporal: Client,
    database_url: str,
    tmp_path: Path,
    model: ScriptedModel,
    players: ScriptedRoles,
) -> None:
    players.plan = plan(
        agent_task("T1", about="Who made it?", agent="inventor", yields="final_answer")
    )
    players.parts["stepper"] = _echo

    async with running_engine(
        temporal, database_url, tmp_path, model_url=model.url, toml=SERVER + "max_steps = 1\n"
    ) as engine:
        job = await engine.run("Who made it?", preset_name="vmao", verify="false")

    assert job.answer == "1 steps; 1 steps were taken (max_steps of agent 'inventor')"


@pytest.mark.long
async def test_an_agent_that_was_taken_out_of_the_file_fails_by_name_and_is_replanned(
    temporal: Client,
    database_url: str,
    tmp_path: Path,
    model: ScriptedModel,
    players: ScriptedRoles,
) -> None:
    """The plan was approved with an agent that the worker which goes on no longer has."""
    players.plan = plan(
        agent_task("T1", about="Who made it?", agent="inventor", yields="final_answer")
    )
    players.continuations = [
        plan(agent_task("T1a", about="Who, then?", agent="reasoning", yields="final_answer"))
    ]
    async with running_engine(
        temporal, database_url, tmp_path, model_url=model.url, toml=SERVER
    ) as engine:
        planned = await engine.run("Who made it?", preset_name="tdp", plan_only=True)
    assert planned.status == "done"

    async with running_engine(temporal, database_url, tmp_path, model_url=model.url) as engine:
        await JobController(engine.holdfast, "ana").resume(planned.job_id)
        await engine.holdfast.wait(planned.job_id, timedelta(seconds=60))
        job = await engine.holdfast.show(planned.job_id)

    assert (job.status, job.answer, job.replans) == ("done", "so", 1)
    (failed,) = [task for task in job.tasks if task.id == "T1"]
    assert "there is no agent 'inventor'" in str(failed.failure)


async def test_an_agents_model_without_an_endpoint_is_refused_at_the_start(
    temporal: Client, database_url: str, tmp_path: Path
) -> None:
    with pytest.raises(BadConfiguration, match=r"agents\.inventor: model 'keen' needs an endpoint"):
        async with running_engine(
            temporal, database_url, tmp_path, toml=SERVER + 'model = "keen"\n'
        ):
            pass
