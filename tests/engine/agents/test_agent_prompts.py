"""Tests of what agents are told: the date, the quotes of a trace, repeats, earlier attempts."""

import re
from typing import Any

import pytest

from holdfast.models.plans.research_plan import ExpectedEntity
from holdfast.roles.agents.assessor import ASSESSOR
from holdfast.roles.agents.stepper import STEPPER
from holdfast.roles.planning.gap_planner import GAP_PLANNER
from holdfast.roles.planning.planner import PLANNER
from holdfast.roles.planning.replanner import REPLANNER
from holdfast.roles.tasks.extractor import EXTRACTOR
from holdfast.roles.tasks.reasoner import REASONER
from holdfast.roles.verification.verifier import VERIFIER
from tests.support.endpoints.scripted_model import ReceivedRequest
from tests.support.endpoints.scripted_roles import GAP_HINT, ScriptedRoles, verifier_answer
from tests.support.jobs.plan_builders import agent_task, final_task, lookup_task, plan
from tests.support.jobs.running_engine import RunningEngine
from tests.support.tools.scripted_tools import ScriptedTools

pytestmark = pytest.mark.slow

DATE = re.compile(r"\d{4}-\d\d-\d\d")


def call(query: str) -> dict[str, Any]:
    return {
        "tool": "lab.wikipedia_search",
        "inputs": [{"name": "query", "value": query}],
        "expects": [{"name": "found"}],
    }


@pytest.mark.conformance("MOD-08", "MOD-09")
async def test_who_judges_an_agent_sees_the_quotes_their_source_and_how_sure_they_are(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    def unsure(asked: ReceivedRequest) -> object:
        entity = {"name": "found", "quote": "Ada, they say", "value": "Ada", "confidence": 0.75}
        return {"entities": [entity], "summary": "Only hearsay."}

    players.plan = plan(agent_task("T1", about="Who?", yields="final_answer"))
    players.parts["extractor"] = unsure
    tools.answers = lambda argument: "It was Ada, they say."

    await engine.run("Who?", preset_name="tdp")

    (step,) = players.tasks(ASSESSOR)[0]["trace"]
    assert step["confidence"] == 0.75
    assert step["summary"] == "Only hearsay."
    (quote,) = step["quotes"]
    assert (quote["name"], quote["quote"]) == ("found", "Ada, they say")
    assert quote["source"]
    assert DATE.fullmatch(players.tasks(STEPPER)[0]["today"])


@pytest.mark.conformance("TDP-04")
async def test_of_several_calls_the_first_is_assessed_before_another_is_made(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    said: list[object] = [{"calls": [call("a"), call("b"), call("c")]}, {"calls": [call("d")]}]
    verdicts = [{"status": "needs_more_steps", "guidance": "look at d"}]

    def assessor(asked: ReceivedRequest) -> object:
        return verdicts.pop(0) if verdicts else {"status": "failed", "reason": "nothing"}

    players.plan = plan(agent_task("T1", about="Who?", yields="final_answer"))
    players.parts |= {"stepper": lambda asked: said.pop(0), "assessor": assessor}
    tools.answers = lambda argument: f"page {argument}"

    await engine.run("Who?", preset_name="tdp", on_exhausted="fail", max_replans=0)

    made = [[step["action"] for step in each["trace"]] for each in players.tasks(ASSESSOR)[:2]]
    assert [len(steps) for steps in made] == [1, 2]
    assert [step.partition("(")[2] for step in made[1]] == [
        '{"query": "a"})',
        '{"query": "d"})',
    ]


@pytest.mark.conformance("MOD-05")
@pytest.mark.long
async def test_the_next_turn_begins_with_the_prompt_of_the_last_one(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    """What stays the same comes first, so that an endpoint finds it in its cache."""
    said: list[object] = [{"calls": [call("a")]}, {"calls": [call("b")]}, {"give_up": "no"}]
    players.plan = plan(agent_task("T1", about="Who?", yields="final_answer"))
    players.parts["stepper"] = lambda asked: said.pop(0)
    tools.answers = lambda argument: f"page {argument}"

    for _ in range(2):
        await engine.run("Who?", preset_name="vmao", verify=False, on_exhausted="fail")
        said += [{"calls": [call("a")]}, {"calls": [call("b")]}, {"give_up": "no"}]

    turns = [[e["content"] for e in asked.turns] for asked in players.asked[STEPPER.name]]
    (system, first), (_, second), (_, third) = turns[:3]
    assert {each[0] for each in turns} == {system}, "no job changes the instructions"
    assert second.startswith(first.removesuffix("}"))
    steps_so_far = second[: second.index(',"used_ids"')].removesuffix("]")
    assert '"id":"T1.1"' in steps_so_far
    assert third.startswith(steps_so_far)
    assert turns[3][1] == first, "another job asks in the same words"


@pytest.mark.conformance("HZN-06")
@pytest.mark.long
async def test_an_agent_that_makes_a_call_again_is_told_so(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    said: list[object] = [{"calls": [call("same")]}, {"calls": [call("same")]}]

    def step(asked: ReceivedRequest) -> object:
        outputs = [{"name": "final_answer", "value": "x", "confidence": 0.9}]
        return said.pop(0) if said else {"outputs": outputs}

    players.parts["stepper"] = step
    tools.answers = {"same": "one answer"}

    await engine.run("Who?", preset_name="single-step")

    first, second = players.tasks(STEPPER)[-1]["trace"]
    assert "before in this job" not in first["action"]
    assert "was called with these arguments before in this job" in second["action"]


@pytest.mark.conformance("HZN-06")
@pytest.mark.long
async def test_a_replanner_is_told_that_an_empty_answer_was_a_repetition(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    other = ExpectedEntity(name="value", description="who wrote it, or who had it written")
    again = lookup_task("T1a", query="nothing").model_copy(update={"expects": (other,)})
    players.plan = plan(lookup_task("T1", query="nothing"), final_task("T2", "T1"))
    players.continuations = [
        plan(again, final_task("T2a", "T1a")),
        plan(lookup_task("T1b", query="some"), final_task("T2b", "T1b")),
    ]
    tools.answers = {"nothing": "", "some": "Ada"}

    job = await engine.run("Who?")

    assert job.status == "done"
    first, second = (given["feedback"] for given in players.tasks(REPLANNER))
    assert "found nothing" in first
    assert "before in this job" not in first
    assert "found nothing" in second
    assert "was called with these arguments before in this job" in second


@pytest.mark.conformance("MOD-08", "MOD-09")
async def test_a_deduction_is_told_what_its_values_are_and_how_sure(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    author = ExpectedEntity(name="value", description="who wrote it")
    first = lookup_task("T1", query="a").model_copy(update={"expects": (author,)})
    players.plan = plan(first, final_task("T2", "T1"))
    tools.answers = {"a": "Ada"}
    await engine.add_document("lights", "The lamp was lit.", kind="txt")

    await engine.run("Who?", collection="lights")

    (given,) = players.tasks(REASONER)[0]["inputs"]
    assert (given["description"], given["confidence"]) == ("who wrote it", 0.9)
    planned = players.tasks(PLANNER)[0]
    assert DATE.fullmatch(planned["today"])
    assert planned["collection"] == "1 document (txt), 1 passage: lights.md"
    assert players.tasks(EXTRACTOR)[0]["least_confidence"] == 0.7


@pytest.mark.conformance("VMAO-08", "MOD-08")
@pytest.mark.long
async def test_a_second_attempt_sees_what_the_first_one_tried_and_found(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    scores = [0.3, 0.9]
    players.plan = plan(agent_task("T1", about="Who wrote it?", yields="name"))
    players.parts["verifier"] = lambda asked: verifier_answer(scores.pop(0))
    tools.answers = lambda argument: "Ada"

    job = await engine.run("Who?", preset_name="vmao")

    assert job.status == "done", job.message
    begun = [task for task in players.tasks(STEPPER) if not task["trace"]]
    first, second = begun
    assert (first["earlier"], first["given"], first["hints"]) == ([], [], [])
    assert second["hints"] == [GAP_HINT, "what is missing"]
    (step,) = second["earlier"]
    assert step["id"] == "T1.1"
    assert 'wikipedia_search({"query": "Who wrote it?"})' in step["action"]
    assert step["found"] == {"found": "Ada"}
    assert [(each["name"], each["value"]) for each in second["given"]] == [("T1.name", "Ada")]
    tried = 'lab.wikipedia_search({"query": "Who wrote it?"})'
    assert players.tasks(VERIFIER)[0]["tried"] == [tried]
    assert players.tasks(GAP_PLANNER)[0]["sub_questions"][0]["tried"] == [tried]
