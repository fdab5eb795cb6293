"""Agents that work sub-questions in steps of their own."""

import pytest

from roles.node_planner import OBJECTIVES
from roles.stepper import STEPPER
from tests.support.engine import Engine
from tests.support.plans import node, plan
from tests.support.players import Players
from tests.support.scripted_tools import ScriptedTools

ALL = ["lab.wikipedia_search"]


@pytest.mark.conformance("TDP-01")
@pytest.mark.conformance("TDP-03")
async def test_a_graph_of_agents_is_worked_step_by_step(
    engine: Engine, players: Players, tools: ScriptedTools
) -> None:
    players.plan = plan(
        node("T1", about="Who wrote it?"),
        node("T2", "T1", about="When was that person born?", yields="final_answer"),
    )
    tools.answers = lambda argument: f"[{argument}]"

    job = await engine.run("When was the writer born?", preset_name="tdp")

    assert (job.status, job.message) == ("done", "")
    assert {task.id: task.status for task in job.tasks} == {
        "T1": "done", "T2": "done", "T1.1": "done", "T2.1": "done",
    }  # fmt: skip
    assert job.answer == "[When was that person born? [Who wrote it?]]"
    assert players.count(OBJECTIVES) == 2
    told = players.tasks(STEPPER)
    assert [task["specification"] for task in told] == [
        "Who wrote it?",
        "When was that person born?",
    ]
    assert told[0]["objectives"] == ["find it", "check it"]
