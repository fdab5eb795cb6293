"""Tests the papers' worked cases with a model that answers as the papers' models did."""

import json
from typing import Any

import pytest

from holdfast.jobs.job_lookup import report_of
from holdfast.models.verification.verification_verdicts import StopCondition
from holdfast.roles.planning.agent_steps_planner import OBJECTIVES, REPAIRER
from holdfast.roles.planning.gap_planner import GAP_PLANNER
from holdfast.roles.reports.synthesiser import SYNTHESISER
from holdfast.roles.verification.verifier import VERIFIER
from holdfast.storage.evidence import verification_rows
from holdfast.storage.plans import plan_change_rows
from holdfast.storage.views import job_queries
from tests.support.endpoints.scripted_model import ReceivedRequest, ScriptedModel
from tests.support.endpoints.scripted_roles import ScriptedRoles, verifier_answer
from tests.support.jobs.plan_builders import agent_task, final_task, lookup_task, plan
from tests.support.jobs.running_engine import RunningEngine
from tests.support.tools.scripted_tools import ScriptedTools


def call(query: str, yields: str = "found") -> dict[str, Any]:
    return {
        "tool": "lab.wikipedia_search",
        "inputs": [{"name": "query", "value": query}],
        "expects": [{"name": yields}] if yields else [],
    }


FIGURE = {
    "T1": "How did revenue develop?",
    "T2": "How large is the market?",
    "T3": "Who are the competitors?",
    "T4": "What did customers say?",
    "T5": "What changed in price?",
    "T6": "Which external factors were there?",
    "T7": "What correlates with the decline?",
}
FIRST = {"T1": 0.90, "T2": 0.45, "T3": 0.85, "T4": 0.30, "T5": 0.25}
SECOND = {"T2": 0.45, "T4": 0.75, "T5": 0.80, "T6": 0.80, "T7": 0.85}


@pytest.mark.conformance("VMAO-01", "VMAO-07", "VMAO-08", "VMAO-09")
async def test_the_figure_of_vmao(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    """Scores .90 .45 .85 .30 .25; 002, 004 and 005 again, 006 and 007 new; 40.0%, then 85.7%."""
    players.plan = plan(*(agent_task(name, about=FIGURE[name]) for name in FIRST))
    tools.answers = lambda argument: f"[{argument}]"
    scores = [dict(FIRST), dict(SECOND)]
    about = {words: name for name, words in FIGURE.items()}

    def verify(asked: ReceivedRequest) -> object:
        name = about[asked.task["sub_question"]]
        return verifier_answer(scores[0 if name in scores[0] else 1].pop(name))

    def gaps(asked: ReceivedRequest) -> object:
        new = [
            {"id": name, "description": FIGURE[name], "agent": "generalist"}
            for name in ("T6", "T7")
        ]
        return {
            "retry_sub_questions": [{"id": name} for name in ("T2", "T4", "T5")],
            "new_sub_questions": new,
        }

    players.parts |= {"verifier": verify, "gap_planner": gaps}

    job = await engine.run("Why did revenue fall?", preset_name="vmao")

    assert job.status == "done", job.message
    first, second = await verification_rows.verification_rounds_of(engine.db, job.job_id)
    assert (first.complete, first.total, first.fired) == (2, 5, None)
    assert (second.complete, second.total, second.fired) == (6, 7, "ready_threshold")
    seen = [each.seen for line in (first, second) for each in line.conditions]
    assert any("40.0%" in words for words in seen)
    assert any("85.7%" in words for words in seen)
    assert (players.count(VERIFIER), players.count(GAP_PLANNER)) == (5 + 5, 1)
    verdicts = (await verification_rows.verdicts_of(engine.db, job.job_id))[2]
    assert {each.task_id: each.completeness for each in verdicts} == FIRST | SECOND
    assert {each.task_id for each in verdicts if each.is_carried_over} == {"T1", "T3"}
    assert StopCondition.READY.in_words in job.message
    attempts = {task.id: task.attempt for task in job.tasks if "." not in task.id}
    assert attempts == {"T1": 1, "T2": 2, "T3": 1, "T4": 2, "T5": 2, "T6": 1, "T7": 1}


@pytest.mark.conformance("TDP-05")
async def test_the_travel_case_of_tdp(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools, model: ScriptedModel
) -> None:
    """No return flight: node 2 repairs its own plan; node 3 is untouched (TDP, figure 4)."""
    players.plan = plan(
        agent_task("T1", about="Which hotels are in Peoria?"),
        agent_task(
            "T2", "T1", about="How to get from Peoria back to Colorado Springs on 27 March?"
        ),
        agent_task("T3", "T1", about="Which restaurants are in Peoria?"),
        agent_task("T4", "T2", "T3", about="Put the trip together", yields="final_answer"),
    )
    tools.answers = {
        "hotels": "Grand Hotel",
        "return flight": "There is no flight on that date.",
        "taxi": "Taxi, 15 hours",
        "restaurants": "Bluebird",
        "trip": "Grand Hotel, taxi, Bluebird",
    }
    queries = {"T1": "hotels", "T2": "return flight", "T3": "restaurants", "T4": "trip"}

    def step(asked: ReceivedRequest) -> object:
        by_land = any("land" in objective for objective in asked.task["objectives"])
        return {"calls": [call("taxi" if by_land else queries[asked.task["node"]])]}

    def assess(asked: ReceivedRequest) -> object:
        found = list(asked.task["trace"][-1]["found"].values())[-1]
        if "no flight" in str(found):
            return {"status": "needs_more_steps", "deviation": "there is no return flight"}
        outputs = [{"name": each["name"], "value": found} for each in asked.task["expects"]]
        return {"status": "completed", "outputs": outputs}

    players.parts |= {
        "stepper": step,
        "assessor": assess,
        "repairer": lambda asked: {"objectives": ["find a way by land"]},
    }

    job = await engine.run("A trip to Peoria", preset_name="tdp")

    assert (job.status, job.answer) == ("done", "Grand Hotel, taxi, Bluebird"), job.message
    (repair,) = players.tasks(REPAIRER)
    assert (repair["node"], repair["deviation"]) == ("T2", "there is no return flight")
    steps = sorted(task.id for task in job.tasks if "." in task.id)
    assert steps == ["T1.1", "T2.1", "T2.2", "T3.1", "T4.1"]
    assert {
        each.scope for each in await plan_change_rows.load_plan_changes(engine.db, job.job_id)
    } == {
        "",
        "T1",
        "T2",
        "T3",
        "T4",
    }
    of_t3 = [json.dumps(asked.task) for asked in model.asked if asked.task.get("node") == "T3"]
    assert len(of_t3) == 3, "objectives, one step, one verdict"
    assert not any("flight" in told or "taxi" in told for told in of_t3)
    assert players.count(OBJECTIVES) == 4
    assert job.replans == 0


SCHLESINGER = "Was John Schlesinger a writer and film producer?"
OCCUPATIONS = "What were the occupations of John Schlesinger?"
ALBERT = "What are the occupations of Barbara Albert?"


@pytest.mark.conformance("HZN-06")
async def test_the_repetition_case_of_the_horizon_paper(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    """Schlesinger: step by step the same failing call is made again and again, until it is refused;
    the whole plan looks at what remains, and gets there without him (appendix C.2)."""
    tools.answers = {ALBERT: "writer, film producer, director"}
    said: list[object] = [
        {"calls": [call(query, "")]}
        for query in (SCHLESINGER, OCCUPATIONS, OCCUPATIONS, OCCUPATIONS)
    ]

    def step(asked: ReceivedRequest) -> object:
        if said:
            return said.pop(0)
        return {"give_up": asked.task["trace"][-1]["failure"]}

    players.parts["stepper"] = step
    job = await engine.run(
        "Which director was also a writer and producer?", preset_name="single-step"
    )

    assert job.status == "failed"
    assert [query for _, query in tools.called] == [SCHLESINGER, OCCUPATIONS, OCCUPATIONS]
    last = next(task for task in job.tasks if task.id == "T1.4")
    assert "failed each time, and is not called again" in str(last.failure)
    assert job.repeated_calls == 1

    tools.called.clear()
    players.plan = plan(
        lookup_task("T1", query=SCHLESINGER),
        lookup_task("T2", query=ALBERT, priority=1),
        final_task("T3", "T1", "T2"),
    )
    players.continuations = [plan(lookup_task("T1a", query=ALBERT), final_task("T3a", "T1a"))]
    job = await engine.run("Which director?", preset_name="full-horizon", slots="1")
    assert (job.status, job.answer) == ("done", "writer, film producer, director")
    assert [query for _, query in tools.called] == [SCHLESINGER, ALBERT]
    events = [each.kind for each in await job_queries.events_after(engine.db, job.job_id, 0)]
    assert events.count("plan.changed") == 1


@pytest.mark.long
async def test_a_verified_job_that_comes_to_no_short_answer_says_so(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    players.plan = plan(agent_task("T1", about="Who?"))
    tools.answers = lambda argument: f"[{argument}]"
    usual = players._synthesiser

    def without(asked: ReceivedRequest) -> object:
        written: Any = usual(asked)
        return written | {"conclusion": None, "gaps": ["Nothing says who."]}

    players.parts["synthesiser"] = without

    job = await engine.run("Who?", preset_name="vmao")

    assert (job.status, job.stop_reason) == ("done", "answered_with_gaps")
    assert job.answer is None
    assert "no short answer" in job.message


async def test_a_verified_job_that_finds_nothing_fails_with_what_stopped_it(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    players.plan = plan(agent_task("T1", about="Who?"))
    players.parts["stepper"] = lambda asked: {"give_up": "nobody knows"}

    job = await engine.run("Who?", preset_name="vmao")

    assert (job.status, job.stop_reason) == ("failed", "nothing_found")
    assert any(each.in_words in job.message for each in StopCondition)
    assert "nobody knows" in job.message
    report = await report_of(engine.holdfast, job.job_id)
    assert [each.text for each in report.summary] == [
        "Not found: nothing that was read answers the question."
    ]
    assert players.count(SYNTHESISER) == 0
