"""Tests for agents that work an agent task in steps."""

import json
from datetime import timedelta
from typing import Any

import pytest

from holdfast.jobs.job_controller import JobController
from holdfast.models.errors import BadInput
from holdfast.models.plans.research_plan import EntityType, ExpectedEntity
from holdfast.planning.strategies.strategy_presets import preset
from holdfast.roles.agents.assessor import ASSESSOR
from holdfast.roles.agents.stepper import STEPPER
from holdfast.roles.planning.agent_steps_planner import OBJECTIVES, REPAIRER, STEP_PLANNER
from holdfast.roles.planning.planner import AGENT_TASK_PLANNER
from holdfast.roles.planning.replanner import STEP_REPLANNER
from holdfast.roles.planning.reviser import REVISER
from holdfast.roles.tasks.extractor import EXTRACTOR
from holdfast.roles.tasks.reasoner import REASONER
from holdfast.roles.verification.verifier import VERIFIER
from holdfast.storage.plans import plan_change_rows, task_queries
from holdfast.storage.views import job_queries
from tests.support.endpoints.scripted_model import ReceivedRequest, ScriptedModel, ScriptedReply
from tests.support.endpoints.scripted_roles import ScriptedRoles, extractor_script
from tests.support.jobs.plan_builders import agent_task, plan
from tests.support.jobs.running_engine import RunningEngine
from tests.support.tools.scripted_tools import ScriptedTools

pytestmark = pytest.mark.slow

OF_NODES = (STEPPER, ASSESSOR, OBJECTIVES, REPAIRER, STEP_PLANNER, STEP_REPLANNER)


def call(query: str, yields: str = "found") -> dict[str, Any]:
    return {
        "tool": "lab.wikipedia_search",
        "inputs": [{"name": "query", "value": query}],
        "expects": [{"name": yields}],
    }


def outputs(**values: object) -> dict[str, Any]:
    return {"outputs": [{"name": n, "value": v, "confidence": 0.9} for n, v in values.items()]}


@pytest.mark.conformance("TDP-01", "TDP-03")
async def test_a_graph_of_agents_is_worked_step_by_step(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    players.plan = plan(
        agent_task("T1", about="Who wrote it?", criteria="A name."),
        agent_task("T2", "T1", about="When was that person born?", yields="final_answer"),
    )
    tools.answers = lambda argument: f"[{argument}]"

    job = await engine.run("When was the writer born?", preset_name="tdp")

    assert (job.status, job.message) == ("done", "")
    assert {task.id: task.status for task in job.tasks} == {
        "T1": "done",
        "T2": "done",
        "T1.1": "done",
        "T2.1": "done",
    }
    assert job.answer == "[When was that person born? [Who wrote it?]]"
    assert players.count(AGENT_TASK_PLANNER) == 1
    assert players.count(OBJECTIVES) == 2
    told = players.tasks(STEPPER)
    assert [task["specification"] for task in told] == [
        "Who wrote it?",
        "When was that person born?",
    ]
    assert told[0]["objectives"] == ["find it", "check it"]
    (planner,) = players.asked["planner"]
    assert "`description` stands alone: a reader of nothing else knows" in planner.system


@pytest.mark.conformance("TDP-02")
@pytest.mark.parametrize("preset_name", ["tdp", "vmao-unverified", "research-unverified"])
@pytest.mark.long
async def test_no_byte_of_an_independent_agent_is_in_an_agents_prompts(
    engine: RunningEngine,
    players: ScriptedRoles,
    tools: ScriptedTools,
    model: ScriptedModel,
    preset_name: str,
) -> None:
    players.plan = plan(
        agent_task("T1", about="Find the zebra"),
        agent_task("T2", about="Find the walrus"),
        agent_task("T3", "T1", about="Find the stripes"),
        agent_task("T9", "T1", "T2", "T3", about="Put together", yields="final_answer"),
    )
    tools.answers = lambda argument: (
        f"page on {argument.split()[-1]}, secret-{argument.split()[-1]}"
    )
    name, _, change = preset_name.partition("-")
    settings = {"verify": "false", "agent_method": "steps"} if change else {}

    job = await engine.run("THE WHOLE QUESTION", preset_name=name, **settings)

    assert job.status == "done", job.message
    mine = [each for each in model.asked if any(each.plays(role) for role in OF_NODES)]
    assert mine
    of_t2 = [each for each in mine if each.task.get("node") == "T2"]
    of_t3 = [each for each in mine if each.task.get("node") == "T3"]
    assert of_t2
    assert of_t3
    for each in mine:
        assert "THE WHOLE QUESTION" not in json.dumps(each.body)
    for each in of_t2:
        assert not _mentions(each, "zebra", "stripes", "T1", "T3")
    for each in of_t3:
        assert not _mentions(each, "walrus", "T2")
        assert _mentions(each, "zebra")


@pytest.mark.conformance("TDP-02")
async def test_whoever_works_on_a_step_is_told_the_question_of_its_agent_alone(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools, model: ScriptedModel
) -> None:
    players.plan = plan(
        agent_task("T1", about="Find the zebra"),
        agent_task("T2", about="Find the walrus", yields="final_answer"),
    )

    def steps(asked: ReceivedRequest) -> object:
        name = asked.task["node"]
        look = call(asked.task["specification"]) | {"id": f"{name}.1", "kind": "tool"}
        deduce = {
            "id": f"{name}.2",
            "kind": "reasoning",
            "description": "deduce",
            "inputs": [{"name": "seen", "value": f"<JSON_PATH>{name}.1.found</JSON_PATH>"}],
            "expects": asked.task["expects"],
            "depends_on": [f"{name}.1"],
        }
        return {"tasks": [look | {"description": "look"}, deduce]}

    players.parts["step_planner"] = steps
    tools.answers = lambda argument: f"page on {argument.split()[-1]}"

    job = await engine.run(
        "THE WHOLE QUESTION", preset_name="research", agent_method="steps", verify="false"
    )

    assert job.status == "done", job.message
    assert (players.count(EXTRACTOR), players.count(REASONER)) == (2, 2)
    questions = sorted(task["question"] for task in players.tasks(REASONER))
    assert questions == ["Find the walrus", "Find the zebra"]
    for each in (*players.asked["extractor"], *players.asked["reasoner"]):
        assert not _mentions(each, "THE WHOLE QUESTION")
        assert len(_mentions(each, "zebra", "walrus")) == 1


def _mentions(asked: ReceivedRequest, *words: str) -> list[str]:
    """The words that stand in the whole request but its instructions."""
    said = json.dumps([turn for turn in asked.turns if turn["role"] != "system"])
    return [word for word in words if word in said]


@pytest.mark.conformance("TDP-04")
async def test_after_each_step_the_assessor_decides_and_its_guidance_reaches_the_next(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    players.plan = plan(agent_task("T1", about="Who?", yields="final_answer"))
    verdicts = [
        {"status": "needs_more_steps", "guidance": "look at the second page"},
        {
            "status": "completed",
            "outputs": [{"name": "final_answer", "value": "<JSON_PATH>T1.2.found</JSON_PATH>"}],
        },
    ]
    players.parts["assessor"] = lambda asked: verdicts.pop(0)
    players.parts["stepper"] = lambda asked: {"calls": [call(f"q{len(asked.task['trace'])}")]}
    tools.answers = {"q0": "first", "q1": "second"}

    job = await engine.run("Who?", preset_name="tdp")

    assert job.answer == "second"
    assert players.count(ASSESSOR) == 2, "once after each step"
    assert [task["guidance"] for task in players.tasks(STEPPER)] == ["", "look at the second page"]
    node_ = await task_queries.load_task(engine.db, job.job_id, "T1")
    assert node_.notes["guidance"] == "look at the second page"


@pytest.mark.conformance("TDP-04")
async def test_the_assessor_decides_after_a_step_that_failed_as_well(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    players.plan = plan(agent_task("T1", about="Who?", yields="final_answer"))
    usual = players._assessor
    players.parts["assessor"] = lambda asked: (
        {"status": "needs_more_steps", "guidance": "spell it otherwise"}
        if asked.task["trace"][-1]["status"] == "failed"
        else usual(asked)
    )
    players.parts["stepper"] = lambda asked: {"calls": [call(f"q{len(asked.task['trace'])}")]}
    tools.answers = {"q1": "second"}

    job = await engine.run("Who?", preset_name="tdp")

    assert job.answer == "second"
    (after_failure, _) = players.tasks(ASSESSOR)
    assert "no page for 'q0'" in after_failure["trace"][0]["failure"]
    assert [task["guidance"] for task in players.tasks(STEPPER)] == ["", "spell it otherwise"]


@pytest.mark.conformance("TDP-04")
@pytest.mark.long
async def test_an_agent_that_the_assessor_calls_failed_is_replanned_as_a_whole(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    players.plan = plan(agent_task("T1", about="Who?", yields="final_answer"))
    players.continuations = [plan(agent_task("T1a", about="Who else?", yields="final_answer"))]
    verdicts = [{"status": "failed", "reason": "nobody knows"}]
    usual = players._assessor
    players.parts["assessor"] = lambda asked: verdicts.pop(0) if verdicts else usual(asked)
    tools.answers = lambda argument: f"[{argument}]"

    job = await engine.run("Who?", preset_name="tdp")

    assert (job.status, job.answer, job.replans) == ("done", "[Who else?]", 1)
    (given,) = [asked.task for asked in players.asked["replanner"]]
    assert "nobody knows" in given["feedback"]
    assert given["replaced"] == ["T1"]


@pytest.mark.conformance("TDP-05")
async def test_a_failed_step_is_repaired_among_its_agents_own_steps(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    players.plan = plan(
        agent_task("T1", about="Find the flight", yields="flight"),
        agent_task("T2", about="Find the hotel", yields="hotel"),
        agent_task("T3", "T1", "T2", about="Put together", yields="final_answer"),
    )

    def steps(asked: ReceivedRequest) -> object:
        task = asked.task
        name = task["node"]
        query = {"T1": "no such flight", "T2": "hotel", "T3": "trip"}[name]
        step = call(query) | {"id": f"{name}.1", "kind": "tool", "description": "look"}
        return {"tasks": [step | {"expects": task["expects"]}]}

    def repair(asked: ReceivedRequest) -> object:
        step = call("train") | {"id": "T1.1a", "kind": "tool", "description": "another way"}
        return {"tasks": [step | {"expects": [{"name": "flight"}]}]}

    players.parts["step_planner"] = steps
    players.parts["replanner"] = repair
    tools.answers = {"hotel": "Grand", "train": "by train", "trip": "train and Grand"}

    job = await engine.run(
        "Plan a trip", preset_name="research", agent_method="steps", verify="false"
    )

    assert (job.status, job.answer, job.replans) == ("done", "train and Grand", 1)
    (given,) = [asked.task for asked in players.asked["replanner"]]
    assert given["question"] == "Find the flight"
    assert (given["replaced"], given["used_ids"]) == (["T1.1"], ["T1.1"])
    assert "hotel" not in json.dumps(given)
    statuses = {task.id: task.status for task in job.tasks}
    assert statuses["T1.1"] == "superseded"
    assert (statuses["T1"], statuses["T2"], statuses["T2.1"]) == ("done", "done", "done")
    changed = [
        each
        for each in await plan_change_rows.load_plan_changes(engine.db, job.job_id)
        if each.superseded
    ]
    assert [(each.scope, each.added, each.superseded) for each in changed] == [
        ("T1", ("T1.1a",), ("T1.1",))
    ]
    assert [query for _, query in tools.called].count("hotel") == 1


@pytest.mark.conformance("TDP-05")
async def test_repaired_objectives_hold_for_all_later_steps_of_the_agent(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    players.plan = plan(agent_task("T1", about="How to get back?", yields="final_answer"))
    usual = players._assessor
    verdicts: list[dict[str, Any]] = [
        {"status": "needs_more_steps", "deviation": "there is no flight"},
        {"status": "needs_more_steps"},
    ]
    players.parts |= {
        "assessor": lambda asked: verdicts.pop(0) if verdicts else usual(asked),
        "stepper": lambda asked: {"calls": [call(f"q{len(asked.task['trace'])}")]},
    }
    tools.answers = lambda argument: f"[{argument}]"

    job = await engine.run("How to get back?", preset_name="tdp")

    assert job.status == "done", job.message
    repaired = ["find it in another way"]
    told = [task["objectives"] for task in players.tasks(STEPPER)]
    assert told == [["find it", "check it"], repaired, repaired]
    assert [task["objectives"] for task in players.tasks(ASSESSOR)][1:] == [repaired, repaired]
    assert (players.count(OBJECTIVES), players.count(REPAIRER)) == (1, 1)


@pytest.mark.conformance("TDP-06")
@pytest.mark.long
async def test_what_was_found_refines_adds_and_removes_what_is_still_to_do(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    players.plan = plan(
        agent_task("T1", about="Which city?"),
        agent_task("T2", "T1", about="Hotels there?"),
        agent_task("T3", "T2", about="Museums there?"),
        agent_task("T4", "T3", about="Put together", yields="final_answer"),
    )
    revisions = [
        {
            "explanation": "the city is known",
            "refine": [
                {"id": "T2", "description": "Hotels in Berlin?"},
                {"id": "T4", "description": "Put together", "depends_on": ["T2", "T5"]},
            ],
            "add": [
                {
                    "id": "T5",
                    "description": "Parks in Berlin?",
                    "agent": "generalist",
                    "depends_on": ["T1"],
                }
            ],
            "remove": ["T3"],
        }
    ]
    players.parts["reviser"] = lambda asked: revisions.pop(0) if revisions else {}
    tools.answers = lambda argument: f"[{argument}]"

    job = await engine.run("A trip?", preset_name="tdp", max_steps="200", max_tool_calls="200")

    assert job.status == "done", job.message
    by_id = {task.id: task for task in job.tasks}
    assert by_id["T2"].description == "Hotels in Berlin?"
    assert (by_id["T3"].status, by_id["T5"].status) == ("superseded", "done")
    assert by_id["T4"].depends_on == ("T2", "T5")
    (revision,) = [
        e
        for e in await plan_change_rows.load_plan_changes(engine.db, job.job_id)
        if e.cause == "revised"
    ]
    assert (revision.added, revision.superseded) == (("T5",), ("T3",))
    assert {(each.task, each.field) for each in revision.changed} == {
        ("T2", "description"),
        ("T4", "depends_on"),
    }
    (first, *_) = players.tasks(REVISER)
    assert first["changeable"] == ["T2", "T3", "T4"]


@pytest.mark.conformance("TDP-06")
@pytest.mark.long
async def test_a_revision_that_breaks_the_graph_is_refused_with_the_reason(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    players.plan = plan(
        agent_task("T1", about="Which city?"),
        agent_task("T2", "T1", about="Hotels there?"),
        agent_task("T3", "T2", about="Put together", yields="final_answer"),
    )
    cyclic = {"refine": [{"id": "T2", "description": "x", "depends_on": ["T3"]}]}
    finished = {"refine": [{"id": "T1", "description": "x"}]}
    bad = [cyclic, finished]
    players.parts["reviser"] = lambda asked: bad[asked.is_correction]
    tools.answers = lambda argument: f"[{argument}]"

    job = await engine.run("A trip?", preset_name="tdp", plan_tries="1")

    assert job.status == "done", job.message
    assert job.plan_changes == 4, "the plan, and a step of each agent"
    refused = [
        each.facts
        for each in await job_queries.events_after(engine.db, job.job_id, 0)
        if each.kind == "plan.change_refused"
    ]
    assert "it is done, and only what is pending may change" in str(refused[0]["reason"])
    told = players.asked["reviser"][1].turns[-1]["content"]
    assert "its dependencies form a cycle: T2 -> T3 -> T2" in told


@pytest.mark.conformance("TDP-07")
@pytest.mark.long
async def test_an_agent_that_has_used_up_its_steps_must_conclude_from_what_it_has(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    players.plan = plan(agent_task("T1", about="Who?", yields="final_answer"))

    def step(asked: ReceivedRequest) -> object:
        trace = asked.task["trace"]
        if asked.task["must_end"]:
            return outputs(final_answer=f"after {len(trace)} steps")
        return {"calls": [call(f"q{len(trace)}")]}

    players.parts["stepper"] = step
    tools.answers = lambda argument: f"[{argument}]"

    job = await engine.run("Who?", preset_name="vmao", verify="false", max_agent_steps="3")

    assert job.answer == "after 3 steps"
    assert "max_agent_steps" in players.tasks(STEPPER)[-1]["must_end"]


@pytest.mark.conformance("TDP-07")
@pytest.mark.long
async def test_the_jobs_step_limit_is_a_stop_with_that_reason_and_a_report(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    players.plan = plan(agent_task("T1", about="Who?", yields="final_answer"))
    players.parts["stepper"] = lambda asked: {"calls": [call(f"q{len(asked.task['trace'])}")]}
    players.parts["assessor"] = lambda asked: {"status": "needs_more_steps"}
    tools.answers = lambda argument: f"[{argument}]"

    job = await engine.run("Who?", preset_name="tdp", max_steps="4")

    assert (job.status, job.stop_reason) == ("failed", "step_limit")
    assert sum(bool(task.id.startswith("T1.")) for task in job.tasks) == 4
    assert preset("tdp").strategy.max_steps == 50


@pytest.mark.conformance("VMAO-01", "VMAO-02")
async def test_a_planned_sub_question_keeps_all_that_its_planner_says_of_it(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    players.plan = plan(
        agent_task("T1", about="Which tower?", criteria="named in a document", priority=2),
        agent_task("T2", about="Which year?", priority=9),
        agent_task("T3", "T1", "T2", about="Whose?", agent="rag"),
        agent_task("T4", "T1", about="Which town?").model_copy(update={"include_context": False}),
    )
    usual = players._stepper
    players.parts["stepper"] = lambda asked: (
        outputs(value="Brink") if asked.task["node"] == "T3" else usual(asked)
    )
    tools.answers = lambda argument: f"[{argument}]"

    job = await engine.run("Which, and whose?", preset_name="vmao", slots="1")

    assert job.status == "done", job.message
    stored = {
        task.id: (task.agent, task.depends_on, task.priority, task.include_context, task.criteria)
        for task in (await task_queries.load_plan(engine.db, job.job_id)).tasks
        if not task.parent
    }
    assert stored == {
        "T1": ("generalist", (), 2, True, "named in a document"),
        "T2": ("generalist", (), 9, True, ""),
        "T3": ("rag", ("T1", "T2"), 5, True, ""),
        "T4": ("generalist", ("T1",), 5, False, ""),
    }
    begun = [task for task in players.tasks(STEPPER) if not task["trace"]]
    assert begun[0]["specification"] == "Which year?", "the highest priority goes first"
    by_id = {task["node"]: task for task in begun}
    assert by_id["T1"]["criteria"] == "named in a document"
    assert [each["name"] for each in by_id["T3"]["given"]] == ["T1.value", "T2.value"]
    assert by_id["T4"]["given"] == []
    judged = {task["id"]: task["criteria"] for task in players.tasks(VERIFIER)}
    assert judged["T1"] == "named in a document"


@pytest.mark.conformance("VMAO-04")
@pytest.mark.long
async def test_the_eleventh_call_of_one_tool_in_a_row_is_refused(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    players.plan = plan(agent_task("T1", about="Who?", yields="final_answer"))

    def step(asked: ReceivedRequest) -> object:
        trace = asked.task["trace"]
        if trace and trace[-1]["status"] == "failed":
            return outputs(final_answer=trace[-1]["failure"])
        return {"calls": [call(f"q{len(trace)}")]}

    players.parts["stepper"] = step
    tools.answers = lambda argument: f"[{argument}]"

    job = await engine.run("Who?", preset_name="vmao", verify="false")

    assert len(tools.called) == 10
    assert job.answer is not None
    assert "10 times in a row" in job.answer
    assert "max_consecutive_calls" in job.answer


@pytest.mark.conformance("VMAO-04")
@pytest.mark.long
async def test_an_agents_fiftieth_call_is_its_last(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    players.plan = plan(agent_task("T1", about="Who?", yields="final_answer"))

    def step(asked: ReceivedRequest) -> object:
        taken = len(asked.task["trace"])
        if asked.task["must_end"]:
            return outputs(final_answer=asked.task["must_end"])
        return {"calls": [call(f"q{taken + n}") for n in range(min(25, 50 - taken))]}

    players.parts["stepper"] = step
    tools.answers = lambda argument: f"[{argument}]"

    job = await engine.run(
        "Who?", preset_name="vmao", verify="false", max_consecutive_calls="99", slots="10"
    )

    assert len(tools.called) == 50
    assert job.answer == "50 tool calls were made (max_agent_calls)"


@pytest.mark.conformance("VMAO-03")
async def test_an_agent_out_of_time_ends_with_that_reason_and_keeps_what_it_found(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    players.plan = plan(agent_task("T1", about="Who?", yields="final_answer"))
    players.parts["stepper"] = lambda asked: (
        {"give_up": "no time left"}
        if asked.task["must_end"]
        else {"calls": [call(f"q{len(asked.task['trace'])}")]}
    )
    tools.answers = lambda argument: f"[{argument}]"

    job = await engine.run(
        "Who?", preset_name="vmao", verify="false", agent_timeout="0:00:00.01", on_exhausted="fail"
    )

    by_id = {task.id: task for task in job.tasks}
    assert by_id["T1"].status == "failed"
    assert by_id["T1"].failure is not None
    assert "agent_timeout" in str(by_id["T1"].failure["message"])
    assert "agent_timeout" in job.message
    memory = await task_queries.load_plan(engine.db, job.job_id)
    assert all(task.result for task in memory.tasks if task.status.value == "done")
    assert preset("vmao").strategy.agent_timeout.total_seconds() == 600


@pytest.mark.conformance("VMAO-03")
@pytest.mark.long
async def test_the_call_under_way_ends_with_its_agents_time(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    players.plan = plan(agent_task("T1", about="Who?", yields="final_answer"))
    players.parts["stepper"] = lambda asked: (
        outputs(final_answer="first")
        if asked.task["must_end"]
        else {"calls": [call("slow" if asked.task["trace"] else "first")]}
    )
    read = players._extractor
    players.parts["extractor"] = lambda asked: (
        ScriptedReply(delay=600, is_lax=True)
        if asked.task["arguments"] == {"query": "slow"}
        else read(asked)
    )
    tools.answers = lambda argument: f"[{argument}]"

    job = await engine.run("Who?", preset_name="vmao", verify="false", agent_timeout="PT3S")

    by_id = {task.id: task for task in job.tasks}
    assert by_id["T1.1"].entities == {"found": "[first]"}
    assert by_id["T1.2"].failure is not None
    assert by_id["T1.2"].failure["message"] == "3 s of work are over (agent_timeout)"
    assert "agent_timeout" in players.tasks(STEPPER)[-1]["must_end"]
    assert job.answer == "first"


@pytest.mark.conformance("VMAO-03")
async def test_the_model_call_of_an_agent_ends_with_its_time_and_the_agent_answers_with_what_it_has(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    players.plan = plan(agent_task("T1", about="Who?", yields="final_answer"))

    def decides(asked: ReceivedRequest) -> object:
        if asked.task["must_end"]:
            return outputs(final_answer=asked.task["trace"][0]["found"]["found"])
        if asked.task["trace"]:
            return ScriptedReply(delay=600, is_lax=True)
        return {"calls": [call("first")]}

    players.parts["stepper"] = decides
    tools.answers = lambda argument: f"[{argument}]"

    job = await engine.run("Who?", preset_name="vmao", verify="false", agent_timeout="PT5S")

    last = players.tasks(STEPPER)[-1]
    assert last["must_end"] == "5 s of work are over (agent_timeout)"
    assert job.answer == "[first]"


@pytest.mark.conformance("HZN-02")
async def test_single_step_sees_why_an_earlier_call_failed(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    def step(asked: ReceivedRequest) -> object:
        trace = asked.task["trace"]
        if len(trace) == 3:
            return outputs(final_answer="<JSON_PATH>T1.3.result</JSON_PATH>")
        return {"calls": [call(("gone", "empty", "there")[len(trace)]) | {"expects": []}]}

    players.parts["stepper"] = step
    tools.answers = {"empty": " ", "there": "Brink"}

    job = await engine.run("Who?", preset_name="single-step")

    assert job.answer == "Brink"
    gone, empty, there = players.tasks(STEPPER)[-1]["trace"]
    assert (gone["status"], empty["status"], there["status"]) == ("failed", "failed", "done")
    assert "no page for 'gone'" in gone["failure"]
    assert "found nothing for these arguments" in empty["failure"]
    assert not there["failure"]
    assert there["found"] == {"result": "Brink"}


@pytest.mark.conformance("HZN-02")
async def test_a_step_that_names_several_values_is_shown_the_text_where_nobody_extracts(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    named = [{"name": name, "type": "string", "description": name} for name in ("one", "other")]
    players.parts["stepper"] = lambda asked: (
        outputs(final_answer="B")
        if asked.task["trace"]
        else {"calls": [call("both") | {"expects": named}]}
    )
    tools.answers = {"both": "A has 2, and B has 3."}

    job = await engine.run("Which has more, A or B?", preset_name="single-step")

    assert job.answer == "B"
    (step,) = players.tasks(STEPPER)[-1]["trace"]
    assert (step["status"], step["found"]) == ("done", {"result": "A has 2, and B has 3."})


@pytest.mark.conformance("HZN-02")
async def test_single_step_sees_all_earlier_actions_and_may_propose_several_calls_at_once(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    def step(asked: ReceivedRequest) -> object:
        trace = asked.task["trace"]
        match len(trace):
            case 0:
                return {"calls": [call("left"), call("right")]}
            case 2:
                both = "<JSON_PATH>T1.1.result</JSON_PATH> <JSON_PATH>T1.2.result</JSON_PATH>"
                return {"calls": [call(both)]}
        return outputs(final_answer="<JSON_PATH>T1.3.result</JSON_PATH>")

    def bare(asked: ReceivedRequest) -> object:
        answer: dict[str, Any] = dict(step(asked))  # type: ignore[call-overload]
        for each in answer.get("calls", []):
            each["expects"] = []
        return answer

    players.parts["stepper"] = bare
    tools.answers = {"left": "L", "right": "R", "L R": "both"}

    job = await engine.run("What is both?", preset_name="single-step")

    assert (job.status, job.answer) == ("done", "both")
    assert (
        players.count(AGENT_TASK_PLANNER)
        == players.count(EXTRACTOR)
        == players.count(REASONER)
        == 0
    )
    both = "<JSON_PATH>T1.1.result</JSON_PATH> <JSON_PATH>T1.2.result</JSON_PATH>"
    last = players.tasks(STEPPER)[-1]
    assert last["specification"] == "What is both?"
    assert [(each["action"], each["found"]) for each in last["trace"]] == [
        ('lab.wikipedia_search({"query": "left"})', {"result": "L"}),
        ('lab.wikipedia_search({"query": "right"})', {"result": "R"}),
        (f'lab.wikipedia_search({{"query": "{both}"}})', {"result": "both"}),
    ]


@pytest.mark.conformance("HZN-04")
@pytest.mark.long
async def test_thirty_calls_and_eight_failures_are_the_limits_of_single_step(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    def bare(asked: ReceivedRequest) -> object:
        return {"calls": [call(f"q{len(asked.task['trace'])}") | {"expects": []}]}

    players.parts["stepper"] = bare
    tools.answers = lambda argument: f"[{argument}]"
    job = await engine.run("Who?", preset_name="single-step")
    assert (job.status, job.stop_reason, len(tools.called)) == ("failed", "tool_call_limit", 30)

    tools.called.clear()
    tools.answers = {}
    job = await engine.run("Who?", preset_name="single-step")
    assert (job.status, job.stop_reason, len(tools.called)) == ("failed", "retry_limit", 9)


async def test_a_step_that_breaks_its_agents_rules_goes_back_with_the_faults(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    players.plan = plan(
        agent_task("T1", about="How many?", yields="final_answer", kind=EntityType.INTEGER)
    )
    answers: list[object] = [
        {"calls": [call("q")], **outputs(final_answer=3)},
        {"calls": [{"tool": "lab.nonsense", "inputs": []}]},
        {"calls": [call("<JSON_PATH>T7.x</JSON_PATH>")]},
        {"calls": [call("q")]},
        outputs(final_answer="many"),
        outputs(final_answer=3),
    ]
    players.parts["stepper"] = lambda asked: answers.pop(0)
    players.parts["extractor"] = extractor_script("3", 0.9)
    tools.answers = {"q": "there are 3"}

    job = await engine.run("How many?", preset_name="vmao", verify="false")

    assert job.answer == "3"
    faults = [a.turns[-1]["content"] for a in players.asked["stepper"] if a.is_correction]
    assert "exactly one of" in faults[0]
    assert "unknown tool 'lab.nonsense'" in faults[1]
    assert "'T7'" in faults[2]
    assert "has not its declared type" in faults[3]


@pytest.mark.conformance("VMAO-15")
@pytest.mark.long
async def test_one_agent_with_all_tools_and_a_fixed_chain_of_agents_need_no_planner(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    tools.answers = lambda argument: f"[{argument}]"

    job = await engine.run("Who?", preset_name="single-agent")
    assert (job.status, job.answer) == ("done", "[Who?]")

    job = await engine.run("Who?", preset_name="static-pipeline")
    assert job.status == "done", job.message
    chain = [(task.id, task.depends_on) for task in job.tasks if "." not in task.id]
    assert chain == [
        (f"T{n}", tuple(f"T{m}" for m in range(1, n))) for n in range(1, len(chain) + 1)
    ]
    assert players.count(AGENT_TASK_PLANNER) == 0
    able = ["rag", "web", "analysis"]  # the financial agent has no tools here
    assert [task.agent for task in job.tasks if "." not in task.id] == [*able, ""]
    begun = {e.task.id: e.started_at for e in await task_queries.load_tasks(engine.db, job.job_id)}
    times = [begun[name] for name, _ in chain]
    assert times == sorted(times)
    (conclusion,) = players.tasks(REASONER)
    assert [each["name"] for each in conclusion["context"]] == [
        f"{task.id}.findings" for task in job.tasks if task.agent and task.status == "done"
    ]


@pytest.mark.long
async def test_a_conclusion_of_another_type_is_written_again_and_a_list_is_read_as_text(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    values: list[object] = [True, ["Ada", "Ida"]]
    players.parts["reasoner"] = lambda _: {
        "status": "completed",
        "outputs": [{"name": "final_answer", "value": values.pop(0), "confidence": 0.9}],
    }
    tools.answers = lambda argument: f"[{argument}]"

    job = await engine.run("Who?", preset_name="static-pipeline")

    assert (job.status, job.answer) == ("done", "Ada; Ida")
    (again,) = [asked for asked in players.asked["reasoner"] if asked.is_correction]
    assert "'final_answer' in `outputs` must be of the type string" in again.turns[-1]["content"]


@pytest.mark.long
async def test_an_agent_that_is_retried_takes_its_steps_anew_and_a_step_alone_cannot_be(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    players.plan = plan(
        agent_task("T1", about="Who?"),
        agent_task("T2", about="Where?"),
        agent_task("T3", "T1", "T2", about="Together?", yields="final_answer"),
    )
    answers = {"n": 0}

    def answer(argument: str) -> str:
        answers["n"] += 1
        return f"[{argument} {answers['n']}]"

    tools.answers = answer
    job = await engine.run("Who and where?", preset_name="vmao", verify="false", slots="1")
    asked = len(tools.called)
    by = JobController(engine.holdfast, "a test")

    with pytest.raises(BadInput, match=r"T1\.1 is a step of T1; retry T1 instead"):
        await by.retry(job.job_id, ["T1.1"])
    chosen = await by.retry(job.job_id, ["T1"])
    await engine.holdfast.wait(job.job_id, timedelta(seconds=60))

    assert (chosen.rerun, chosen.kept) == (("T1", "T3"), ("T2",))
    again = await engine.holdfast.show(job.job_id)
    statuses = {task.id: (task.status, task.attempt) for task in again.tasks}
    assert again.status == "done", again.message
    assert statuses["T1.1"] == ("superseded", 1)
    assert (statuses["T1"], statuses["T1.2"]) == (("done", 2), ("done", 2))
    assert len(tools.called) == asked + 2
    assert again.answer != job.answer


@pytest.mark.conformance("TDP-06")
@pytest.mark.long
async def test_a_lazy_plan_is_revised_only_when_a_result_contradicts_what_it_assumed(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    first = agent_task("T1", about="Where is the king's grave?")
    age = ExpectedEntity(name="age", required=False)
    players.plan = plan(
        first.model_copy(update={"expects": (*first.expects, age)}),
        agent_task("T2", "T1", about="Who guards the grave?"),
        agent_task("T3", "T2", about="Together?"),
    )
    usual, read = players._assessor, players._extractor

    def assess(asked: ReceivedRequest) -> object:
        verdict: Any = usual(asked)
        verdict["outputs"] = verdict["outputs"][:1]
        return verdict | {"contradicts_plan": "the king is alive"}

    def extract(asked: ReceivedRequest) -> object:
        """What is not required is not found, so that an assessor is asked."""
        answer: Any = read(asked)
        promised = asked.task["entities"]
        for each, entity in zip(answer["entities"], promised, strict=True):
            each["value"] = each["value"] if entity["required"] else None
        return answer

    changes = [{"refine": [{"id": "T2", "description": "Who guards the king?"}]}]
    players.parts |= {
        "assessor": assess,
        "extractor": extract,
        "reviser": lambda asked: changes.pop(),
    }
    tools.answers = lambda argument: f"[{argument}]"

    job = await engine.run(
        "Who guards the king?", preset_name="research", begins_with="plan", agent_method="steps"
    )

    assert job.status == "done", job.message
    assert players.count(REVISER) == 1
    assert {task.id: task.description for task in job.tasks}["T2"] == "Who guards the king?"
    (told,) = players.tasks(REVISER)
    assert told["contradictions"] == ["T1: the king is alive"]
