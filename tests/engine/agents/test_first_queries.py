"""Tests for agents that begin with the searches that their plan has for them."""

import json
from typing import Any

import pytest
from pydantic import TypeAdapter

from holdfast.models.plans.research_plan import FIRST_QUERIES, Plan
from holdfast.models.plans.shown_plan import ShownPlan
from holdfast.roles.agents.assessor import ASSESSOR
from holdfast.roles.agents.stepper import STEPPER
from holdfast.roles.planning.agent_steps_planner import OBJECTIVES
from holdfast.roles.planning.planner import AGENT_TASK_PLANNER
from holdfast.roles.tasks.extractor import EXTRACTOR
from tests.support.endpoints.loop_script import value, values
from tests.support.endpoints.scripted_model import ReceivedRequest
from tests.support.endpoints.scripted_roles import ScriptedRoles, planner_answer
from tests.support.jobs.plan_builders import agent_task, plan, result_reference
from tests.support.jobs.running_engine import RunningEngine
from tests.support.tools.scripted_tools import ScriptedTools

WRITER, BORN = "Halm novel", f"{result_reference('T1', 'writer')} born"
PAGES = {WRITER: "Ida Voss", "Ida Voss born": "1871"}


def two_questions() -> Plan:
    """Who wrote it, and when that person was born, each with its first search."""
    return plan(
        agent_task("T1", about="Who wrote Halm?", yields="writer", queries=[WRITER]),
        agent_task(
            "T2",
            "T1",
            about="When was the writer of Halm born?",
            yields="final_answer",
            queries=[BORN],
        ),
    )


@pytest.fixture(autouse=True)
def _pages(tools: ScriptedTools, players: ScriptedRoles) -> None:
    tools.answers = lambda query: PAGES.get(query, "")
    players.plan = two_questions()


@pytest.mark.slow
@pytest.mark.long
async def test_no_model_writes_a_search_that_the_plan_has(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    job = await engine.run(
        "When was the writer born?", preset_name="vmao", verify="false", servers=("lab",)
    )

    assert (job.status, job.answer) == ("done", "1871"), job.message
    assert [query for _, query in tools.called] == [WRITER, "Ida Voss born"]
    assert players.count(STEPPER) == 0
    assert players.count(EXTRACTOR) == 2


@pytest.mark.slow
@pytest.mark.long
async def test_each_first_search_of_tdp_is_assessed_as_any_step(
    engine: RunningEngine, players: ScriptedRoles
) -> None:
    job = await engine.run("When was the writer born?", preset_name="tdp", servers=("lab",))

    assert (job.status, job.answer) == ("done", "1871"), job.message
    asked = [players.count(role) for role in (OBJECTIVES, STEPPER, ASSESSOR)]
    assert asked == [2, 0, 2]


@pytest.mark.slow
@pytest.mark.long
async def test_an_agent_goes_on_from_first_searches_that_did_not_find_all(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    queries = ["Halm", "Halm novel writer"]
    task = agent_task("T1", about="Who wrote Halm?", yields="final_answer", queries=queries)
    players.plan = plan(task)
    players.parts[EXTRACTOR.name] = _finds_in("Ida")
    players.parts[STEPPER.name] = _searches_once_more

    job = await engine.run("Who wrote Halm?", preset_name="vmao", verify="false", servers=("lab",))

    assert (job.status, job.answer) == ("done", "Ida Voss"), job.message
    told = players.tasks(STEPPER)[0]
    assert sorted(query for _, query in tools.called) == sorted([*queries, WRITER])
    assert [each["id"] for each in told["trace"]] == ["T1.1", "T1.2"]
    assert not told["given"], "the queries are steps of the trace"


def _searches_once_more(asked: ReceivedRequest) -> object:
    last = asked.task["trace"][-1]
    if last["id"] == "T1.3":
        return {"outputs": [{"name": "final_answer", "value": last["found"]["writer"]}]}
    inputs = [{"name": "query", "value": WRITER}]
    tool = {"tool": "lab.wikipedia_search", "inputs": inputs, "expects": [{"name": "writer"}]}
    return {"calls": [tool]}


def _finds_in(word: str) -> Any:
    def part(asked: ReceivedRequest) -> object:
        text = " ".join(each["text"] for each in asked.task["response"])
        value = text if word in text else None
        named = [each["name"] for each in asked.task["entities"]]
        found = {"value": value, "quote": value or "", "confidence": 0.9}
        return {"entities": [{"name": name, **found} for name in named]}

    return part


@pytest.mark.slow
async def test_a_loop_begins_with_the_searches_of_its_plan(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    about = "Who wrote Halm?"
    queries = ["Halm", WRITER]
    players.plan = plan(agent_task("T1", about=about, yields="writer", queries=queries))
    players.loop.by_question = {about: [[values(value("writer", "Ida Voss", 1, "Ida Voss"))]]}

    job = await engine.run("Who?", preset_name="research", servers=("lab",), begins_with="plan")

    assert job.status == "done", job.message
    (told,) = players.loop.tasks(about)
    assert [each["call"] for each in told["first_search"]] == queries
    assert sorted(query for _, query in tools.called) == sorted(queries)


@pytest.mark.slow
@pytest.mark.long
async def test_a_query_that_refers_to_no_dependency_is_sent_back(
    engine: RunningEngine, players: ScriptedRoles
) -> None:
    wrong = plan(agent_task("T1", about="Who?", queries=[result_reference("T9", "x")]))
    answers = [planner_answer(wrong), planner_answer(two_questions())]
    players.parts[AGENT_TASK_PLANNER.name] = lambda asked: answers.pop(0)

    job = await engine.run(
        "When was the writer born?", preset_name="vmao", verify="false", servers=("lab",)
    )

    assert job.status == "done", job.message
    assert players.count(AGENT_TASK_PLANNER) == 2
    last = players.asked[AGENT_TASK_PLANNER.name][-1]
    assert "'T9' is not a dependency" in json.dumps(last.turns)


def test_a_prompt_shows_first_queries_as_a_planner_writes_them() -> None:
    shown: TypeAdapter[Any] = TypeAdapter(ShownPlan)
    tasks = two_questions().tasks

    written = json.loads(shown.dump_json(tasks))

    assert [each[FIRST_QUERIES] for each in written] == [[WRITER], [BORN]]
    assert not any("inputs" in each for each in written)
    assert shown.validate_python(written) == tasks
