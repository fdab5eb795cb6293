"""Tests of agent tasks that work as cited loops: they return what they promise, with quotes."""

import json
from typing import Any

import pytest

from holdfast.evidence.evidence_retraction import retract_job_evidence
from holdfast.evidence.report_provenance import provenance_of
from holdfast.evidence.source_recheck import recheck_sources
from holdfast.jobs.job_lookup import report_of
from holdfast.models.evidence.source_checks import SourceDrift
from holdfast.models.jobs.job_record import StopReason
from holdfast.models.plans.research_plan import EntityType, ExpectedEntity, Task
from holdfast.models.views.job_views import JobView
from holdfast.roles.planning.gap_planner import GAP_PLANNER
from holdfast.roles.planning.replanner import LOOP_TASK_REPLANNER
from holdfast.roles.verification.verifier import VERIFIER
from holdfast.storage.evidence import evidence_rows
from holdfast.storage.plans import loop_result_rows, task_queries
from holdfast.storage.views import job_queries
from tests.support.endpoints.loop_script import (
    ACCEPTED,
    answer,
    results,
    search,
    sentence,
    value,
    values,
)
from tests.support.endpoints.scripted_roles import ScriptedRoles
from tests.support.jobs.plan_builders import agent_task, plan
from tests.support.jobs.running_engine import RunningEngine
from tests.support.long_parameters import only_long
from tests.support.tools.scripted_tools import ScriptedTools

pytestmark = pytest.mark.slow

BIRTH = "Where and when was Ada Lindqvist born?"
BRIDGE = "When was the Teal Bridge opened?"
AGE = "How old was Ada Lindqvist when the Teal Bridge was opened?"
PAGES = {
    BIRTH: "Ada Lindqvist was born in Malmo in 1871. She studied in Lund.",
    BRIDGE: "The Teal Bridge, a work of Ada Lindqvist, was opened in 1911.",
    "Lindqvist parish records": "Parish records: A. Lindqvist, baptised in Malmo.",
}
BORN = "Ada Lindqvist was born in Malmo in 1871."
OPENED = "The Teal Bridge, a work of Ada Lindqvist, was opened in 1911."
CITY = value("city", "Malmo", 1, BORN)
YEAR = value("year", 1871, 1, BORN)
WHERE_AND_WHEN = (
    ExpectedEntity(name="city", description="the city of her birth"),
    ExpectedEntity(name="year", type=EntityType.INTEGER, description="the year of her birth"),
)


def birth_task(task_id: str = "T1") -> Task:
    return agent_task(task_id, about=BIRTH).model_copy(update={"expects": WHERE_AND_WHEN})


@pytest.fixture(autouse=True)
def _pages(tools: ScriptedTools, players: ScriptedRoles) -> None:
    tools.answers = lambda query: PAGES.get(query, "")
    players.plan = plan(birth_task())
    players.loop.by_question = {BIRTH: [[values(CITY, YEAR)]]}


async def run_agents(engine: RunningEngine, **settings: Any) -> JobView:
    """A planned job of `research`, whose agents are loops."""
    return await engine.run(
        "Who was she?", preset_name="research", servers=("lab",), begins_with="plan", **settings
    )


async def found_by(engine: RunningEngine, job: JobView, task_id: str) -> dict[str, object]:
    """The entities of one task."""
    tasks = await task_queries.load_tasks(engine.db, job.job_id)
    return next(dict(each.task.result) for each in tasks if each.task.id == task_id)


@pytest.mark.conformance("LOOP-04", "KPI-07")
async def test_an_agent_returns_each_promised_value_with_its_quote_and_confidence(
    engine: RunningEngine, players: ScriptedRoles
) -> None:
    job = await run_agents(engine)

    assert job.status == "done", job.message
    (stored, *_) = await task_queries.load_tasks(engine.db, job.job_id)
    assert stored.task.result == {"city": "Malmo", "year": 1871}
    assert stored.confidence == 0.9, "what the agent claims, which is less than the judge's word"
    evidence = await evidence_rows.evidence_of(engine.db, job.job_id)
    assert {(each.task_id, each.entity, each.value, each.quote) for each in evidence} == {
        ("T1.1", "city", "Malmo", BORN),
        ("T1.1", "year", 1871, BORN),
    }
    (judged,) = players.loop.judged
    assert [(each["n"], each["text"]) for each in judged["sentences"]] == [
        (1, "the city of her birth: Malmo"),
        (2, "the year of her birth: 1871"),
    ]
    assert judged["answer"] == "city: Malmo; year: 1871"
    (verified,) = players.tasks(VERIFIER)
    assert {(each["name"], each["value"]) for each in verified["result"]} == {
        ("city", "Malmo"),
        ("year", 1871),
    }
    assert {each["quote"] for each in verified["evidence"]} == {BORN}
    assert "stepper" not in players.asked
    assert "step_planner" not in players.asked


@pytest.mark.conformance("LOOP-04", "TDP-02")
@pytest.mark.long
async def test_an_agent_sees_its_task_and_the_proven_results_of_the_tasks_that_it_needs(
    engine: RunningEngine, players: ScriptedRoles
) -> None:
    age = agent_task("T3", "T1", "T2", about=AGE, yields="age", kind=EntityType.INTEGER)
    players.plan = plan(
        birth_task(),
        agent_task("T2", about=BRIDGE, yields="opened", kind=EntityType.INTEGER),
        age.model_copy(update={"criteria": "in whole years"}),
    )
    forty = value("age", 40, 1, BORN)
    forty["cites"].append({"passage": 2, "quote": OPENED})
    players.loop.by_question |= {
        BRIDGE: [[values(value("opened", 1911, 1, OPENED))]],
        AGE: [[values(forty)]],
    }

    job = await run_agents(engine)

    (told,) = players.loop.tasks(AGE)
    assert [(each["name"], each["value"]) for each in told["given"]] == [
        ("T1.city", "Malmo"),
        ("T1.year", 1871),
        ("T2.opened", 1911),
    ]
    assert [(each["n"], each["sentences"]) for each in told["kept"]] == [(1, [BORN]), (2, [OPENED])]
    assert told["criteria"] == "in whole years"
    (alone,) = players.loop.tasks(BRIDGE)
    assert "given" not in alone
    assert "Malmo" not in json.dumps(alone), "nothing of an agent that it does not depend on"
    tasks = {each.task.id: each for each in await task_queries.load_tasks(engine.db, job.job_id)}
    assert (tasks["T3"].task.result, tasks["T3"].confidence) == ({"age": 40}, 0.8)
    mine = [
        each
        for each in await evidence_rows.evidence_of(engine.db, job.job_id)
        if each.entity == "age"
    ]
    assert {(each.task_id, each.quote) for each in mine} == {("T3", BORN), ("T3", OPENED)}


@pytest.mark.conformance("LOOP-04")
@pytest.mark.long
async def test_a_mark_on_another_tasks_passage_is_traced_to_the_step_that_read_it(
    engine: RunningEngine, players: ScriptedRoles
) -> None:
    players.plan = plan(birth_task(), agent_task("T2", "T1", about=AGE, agent="reasoning"))
    players.loop.by_question[AGE] = [[values(value("value", "Malmo", 1, "born in Malmo"))]]

    job = await run_agents(engine)
    report = await evidence_rows.load_report(engine.db, job.job_id)

    assert report is not None
    (mark,) = [each.mark for each in report.citations if each.quote == "born in Malmo"]
    trace = await provenance_of(engine.holdfast, job.job_id, mark)
    assert (trace.task_id, trace.entity, trace.value) == ("T2", "value", "Malmo")
    assert trace.fetched_by is not None
    assert (trace.fetched_by.task_id, trace.fetched_by.arguments) == ("T1.1", {"query": BIRTH})
    evidence = {each.mark: each.evidence_id for each in report.citations}
    gone = await retract_job_evidence(
        engine.db, job.job_id, evidence[mark], reason="another Ada", by="dana"
    )
    assert gone.entities == ("T2.value",)


@pytest.mark.long
async def test_the_sources_of_loop_agents_are_rechecked_also_those_that_another_task_read(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    players.plan = plan(
        birth_task(),
        agent_task("T2", "T1", about=AGE, agent="reasoning"),
        agent_task("T3", about=BRIDGE, yields="opened", kind=EntityType.INTEGER),
    )
    players.loop.by_question |= {
        AGE: [[values(value("value", "Malmo", 1, "born in Malmo"))]],
        BRIDGE: [[values(value("opened", 1911, 1, OPENED))]],
    }
    job = await run_agents(engine)
    report = await report_of(engine.holdfast, job.job_id)
    mark = {each.quote: each.mark for each in report.citations}
    assert set(mark) == {BORN, "born in Malmo", OPENED}

    same = await verdicts(engine, job)
    pages = PAGES | {BIRTH: "Ada Lindqvist was born in Gothenburg in 1871.", BRIDGE: PAGES[BRIDGE]}
    tools.answers = lambda query: pages.get(query, "")
    changed = await verdicts(engine, job)

    assert set(same.values()) == {SourceDrift.UNCHANGED}
    assert changed[mark[OPENED]] is SourceDrift.UNCHANGED
    assert changed[mark[BORN]] is SourceDrift.CHANGED
    assert changed[mark["born in Malmo"]] is SourceDrift.CHANGED
    warned = await report_of(engine.holdfast, job.job_id)
    assert warned.citations == report.citations
    assert warned.warnings


async def verdicts(engine: RunningEngine, job: JobView) -> dict[int, SourceDrift]:
    """What a recheck says of each citation of the report."""
    found = await recheck_sources(engine.holdfast, engine.parts.hub, job.job_id, by="tester")
    return {each.mark: each.verdict for each in found.checks}


@pytest.mark.conformance("LOOP-04")
async def test_an_agent_without_tools_answers_in_one_turn_from_what_it_was_given(
    engine: RunningEngine, players: ScriptedRoles
) -> None:
    players.plan = plan(birth_task(), agent_task("T2", "T1", about=AGE, agent="reasoning"))

    job = await run_agents(engine)

    (request,) = [each for each in players.loop.agents_asked if each.task["question"] == AGE]
    offered = [tool["function"]["name"] for tool in request.body["tools"]]
    assert offered == ["ask", "answer"]
    assert "first_search" not in request.task
    assert [task.status for task in job.tasks if task.id == "T2"] == ["done"]
    assert not any(task.id.startswith("T2.") for task in job.tasks)


@pytest.mark.conformance("LOOP-04")
@pytest.mark.long
async def test_a_value_is_taken_over_from_a_task_that_has_no_quotes(
    engine: RunningEngine, players: ScriptedRoles
) -> None:
    players.plan = plan(birth_task(), agent_task("T2", "T1", about=AGE, agent="reasoning"))
    taken = {"name": "value", "value": "Malmo", "cites": []}
    invented = {"name": "value", "value": "Lund", "cites": []}
    players.loop.by_question[AGE] = [[values(invented)], [values(taken)]]

    job = await run_agents(engine)

    (_, again) = [each for each in players.loop.agents_asked if each.task["question"] == AGE]
    (refused,) = json.loads(again.turns[-1]["content"])["refused_values"]
    assert refused["name"] == "value"
    assert "Lund" in refused["why"]
    stored = {each.id: each for each in job.tasks}
    assert stored["T2"].status == "done"
    judged = players.loop.judged[-1]["sentences"]
    assert [each["title"] for each in judged[0]["quotes"]] == ["T1.city", "T1.year"]


def refused_values(players: ScriptedRoles, turn: int) -> dict[str, str]:
    """The reason for each value that is refused in the message before this turn, from 1."""
    told = json.loads(players.loop.agents_asked[turn - 1].turns[-1]["content"])
    return {each["name"]: each["why"] for each in told["refused_values"]}


@pytest.mark.conformance("LOOP-03", "LOOP-04")
@pytest.mark.long
async def test_refused_values_go_back_alone_and_once(
    engine: RunningEngine, players: ScriptedRoles
) -> None:
    wrong = value("year", 1881, 1, BORN)
    paraphrased = value("city", "Malmo", 1, "Malmo is her birthplace")
    players.loop.by_question[BIRTH] = [[values(paraphrased, wrong)], [values(CITY)], [values()]]

    job = await run_agents(engine, max_replans_per_task="0", max_rounds="1")

    told = refused_values(players, 2)
    assert "does not stand in passage 1" in told["city"]
    assert "the number 1881 is in no passage" in told["year"]
    assert len(players.loop.agents_asked) == 2
    failure = next(str(task.failure) for task in job.tasks if task.id == "T1")
    assert "Entity 'year' was not found." in failure
    assert "Entity 'city'" not in failure


@pytest.mark.conformance("LOOP-04")
async def test_a_value_keeps_the_quotes_that_stand_if_another_is_wrong_twice(
    engine: RunningEngine, players: ScriptedRoles
) -> None:
    wrong = {"passage": 1, "quote": "Malmo is her birthplace"}
    city = {**CITY, "cites": [*CITY["cites"], wrong]}
    players.loop.by_question[BIRTH] = [[values(city, YEAR)]]

    job = await run_agents(engine)

    assert "does not stand in passage 1" in refused_values(players, 2)["city"]
    assert len(players.loop.agents_asked) == 2
    assert await found_by(engine, job, "T1") == {"city": "Malmo", "year": 1871}
    evidence = await evidence_rows.evidence_of(engine.db, job.job_id)
    assert {each.quote for each in evidence} == {BORN}


@pytest.mark.conformance("LOOP-04", "KPI-07", "KPI-11")
@pytest.mark.long
async def test_what_the_judge_refuses_fails_the_task_and_the_replanner_is_told_why(
    engine: RunningEngine, players: ScriptedRoles
) -> None:
    no = {"n": 1, "why": "the quote names a student"}
    players.loop.judgements = [ACCEPTED | {"not_shown": [no]}, ACCEPTED | {"not_shown": [no]}]
    players.loop.judgements += [ACCEPTED]
    players.loop.by_question[BIRTH] = [[values(CITY, YEAR)], [values(CITY)]]
    players.continuations = [plan(agent_task("T1a", about=BRIDGE, yields="opened"))]

    job = await run_agents(engine)

    assert refused_values(players, 2) == {"city": "the quote names a student"}
    (given,) = players.tasks(LOOP_TASK_REPLANNER)
    assert "Entity 'city' is below the confidence of 0.7: 0.50." in given["feedback"]
    assert "city: the quote names a student" in given["feedback"]
    assert "'year'" not in given["feedback"]
    assert {task.id: task.status for task in job.tasks}["T1"] == "superseded"
    assert given["found"]["open"] == []
    assert [each["text"] for each in given["found"]["proven"]] == ["year: 1871"]
    assert given["found"]["tried"] == [BIRTH]
    (continued,) = players.loop.tasks(BRIDGE)
    assert continued["kept"][0]["sentences"] == [BORN], "what is proven goes on to the new task"
    results = await loop_result_rows.load_loop_results(engine.db, job.job_id)
    assert [each.name for each in results["T1"].values] == ["city", "year"]
    assert await found_by(engine, job, "T1.1") == {"year": 1871}, "what is proven is kept"


@pytest.mark.conformance("LOOP-04", "KPI-07")
@pytest.mark.long
async def test_an_uncertain_value_is_looked_for_once_more(
    engine: RunningEngine, players: ScriptedRoles
) -> None:
    players.loop.judgements = [ACCEPTED | {"weakest": 1, "strength": "weak"}, ACCEPTED]
    better = value("city", "Malmo", 2, "A. Lindqvist, baptised in Malmo")
    players.loop.by_question[BIRTH] = [
        [values(CITY, YEAR)],
        [search("Lindqvist parish records")],
        [values(better)],
    ]

    job = await run_agents(engine)

    assert refused_values(players, 2) == {"city": "its confidence is 0.55, and 0.7 is needed"}
    shown = results(players.loop.agents_asked[2])
    assert shown[0][0]["passages"][0]["n"] == 2
    stored = (await task_queries.load_tasks(engine.db, job.job_id))[0]
    assert stored.task.result == {"city": "Malmo", "year": 1871}


@pytest.mark.conformance("LOOP-04", "KPI-07")
async def test_a_value_is_as_uncertain_as_the_weak_sentence_that_it_based_on(
    engine: RunningEngine, players: ScriptedRoles
) -> None:
    players.plan = plan(agent_task("T1", about=BIRTH, yields="city"))
    same = sentence("The bridge's Ada is the one of the parish.", 1, BORN)
    players.loop.judgements = [ACCEPTED | {"weakest": 1, "strength": "weak"}]
    players.loop.by_question[BIRTH] = [[values(CITY, sentences=[same], open=["her parish"])]]

    job = await run_agents(engine, max_replans_per_task="0", max_rounds="1")

    told = refused_values(players, 2)["city"]
    assert told.startswith("its confidence is 0.55, and 0.7 is needed; it is based on")
    assert same["text"] in told
    failure = next(str(task.failure) for task in job.tasks if task.id == "T1")
    assert "Entity 'city' is below the confidence of 0.7: 0.55." in failure


@pytest.mark.conformance("LOOP-04")
async def test_a_value_that_is_not_there_is_given_or_named_as_open(
    engine: RunningEngine, players: ScriptedRoles
) -> None:
    players.loop.by_question[BIRTH] = [[values(CITY)], [values(CITY, open=["her year of birth"])]]
    players.loop.judgements = [ACCEPTED | {"answer_follows": False}]

    job = await run_agents(engine, max_replans_per_task="0", max_rounds="1")

    assert "`values` has no `year`" in players.loop.agents_asked[1].turns[-1]["content"]
    failure = next(str(task.failure) for task in job.tasks if task.id == "T1")
    assert "Entity 'year' was not found." in failure
    assert "her year of birth" in failure
    assert "Entity 'city'" not in failure, "a part is not judged as if it were the whole answer"
    assert len(players.loop.agents_asked) == 2


@pytest.mark.conformance("LOOP-04")
@pytest.mark.long
async def test_a_replanner_that_expects_nothing_more_leaves_a_gap_and_no_further_search(
    engine: RunningEngine, players: ScriptedRoles
) -> None:
    players.plan = plan(
        birth_task(),
        agent_task("T2", about=BRIDGE, yields="opened", kind=EntityType.INTEGER),
        agent_task("T3", "T1", about=AGE, yields="age", kind=EntityType.INTEGER),
    )
    players.loop.by_question |= {
        BIRTH: [[values(open=["her year of birth"])]],
        BRIDGE: [[values(value("opened", 1911, 1, OPENED))]],
    }
    players.continuations = [plan()]

    job = await run_agents(engine)
    report = await report_of(engine.holdfast, job.job_id)

    assert (job.status, job.stop_reason) == ("done", StopReason.ANSWERED_WITH_GAPS)
    assert {task.id: task.status for task in job.tasks if "." not in task.id} == {
        "T1": "failed",
        "T2": "done",
        "T3": "cancelled",
    }
    assert f"Not found: {BIRTH}" in report.gaps
    assert (players.count(LOOP_TASK_REPLANNER), players.count(GAP_PLANNER)) == (1, 0)
    assert len(players.loop.tasks(BIRTH)) == 1, "nobody searches for it again"
    rebuilt = await task_queries.task_states(engine.db, job.job_id)
    assert [task.id for task in rebuilt if task.is_given_up] == ["T1"]
    events = await job_queries.events_after(engine.db, job.job_id, 0)
    assert [each.facts["given_up"] for each in events if "given_up" in each.facts] == ["T1"]


@pytest.mark.conformance("LOOP-04")
@pytest.mark.parametrize(
    ("settings", "limit"),
    [
        ({"max_turns": "2"}, "1 turn was taken (max_turns 2)"),
        only_long({"max_agent_calls": "2"}, "2 tool calls were made (max_agent_calls)"),
        only_long({"max_loop_tokens": "10"}, "tokens were spent (max_loop_tokens 10)"),
        ({"agent_timeout": 2}, "2 s of work are over (agent_timeout)"),
    ],
)
async def test_a_limit_ends_an_agent_with_the_part_that_it_has_proven(
    engine: RunningEngine, players: ScriptedRoles, settings: dict[str, Any], limit: str
) -> None:
    ends = values(CITY, open=["her year of birth"])
    players.loop.delay_s = 2.5 if "agent_timeout" in settings else 0
    players.loop.by_question[BIRTH] = [
        lambda asked: [ends if "must_answer" in json.dumps(asked.turns) else search("Lindqvist")]
    ]

    job = await run_agents(engine, max_replans_per_task="0", max_rounds="1", **settings)

    last = players.loop.agents_asked[-1].turns[-1]["content"]
    assert limit in last
    (stored, *_) = await task_queries.load_tasks(engine.db, job.job_id)
    assert stored.failure is not None
    assert stored.failure.missing == ("year",), stored.failure.message
    assert "her year of birth" in stored.failure.message
    assert await found_by(engine, job, "T1.1") == {"city": "Malmo"}
    report = await evidence_rows.load_report(engine.db, job.job_id)
    assert report is not None
    assert [each.quote for each in report.citations] == [BORN]
    assert any("her year of birth" in gap or BIRTH in gap for gap in report.gaps)


@pytest.mark.conformance("TDP-06")
@pytest.mark.long
async def test_a_loop_that_contradicts_what_the_plan_assumed_lets_the_plan_be_revised(
    engine: RunningEngine, players: ScriptedRoles
) -> None:
    players.plan = plan(birth_task(), agent_task("T2", "T1", about=BRIDGE))
    players.loop.by_question[BIRTH] = [[values(CITY, YEAR, contradicts="she has no bridge")]]
    changes = [{"refine": [{"id": "T2", "description": "Which bridges are of Lindqvist?"}]}]
    players.parts["reviser"] = lambda asked: changes.pop()

    job = await run_agents(engine)

    described = {task.id: task.description for task in job.tasks}
    assert described["T2"] == "Which bridges are of Lindqvist?"


@pytest.mark.conformance("LOOP-04")
async def test_an_agent_that_promises_an_account_returns_its_proven_sentences(
    engine: RunningEngine, players: ScriptedRoles
) -> None:
    account = agent_task("T1", about=BIRTH, yields="findings")
    players.plan = plan(account)
    studied = sentence("She studied in Lund.", 1, "She studied in Lund.")
    players.loop.turns = [[answer("in Malmo", sentence(BORN, 1, BORN), studied)]]

    job = await run_agents(engine)

    (stored, *_) = await task_queries.load_tasks(engine.db, job.job_id)
    assert stored.task.result == {"findings": f"{BORN}\nShe studied in Lund."}


@pytest.mark.conformance("LOOP-04")
@pytest.mark.long
async def test_vmao_may_let_its_agents_work_as_loops(
    engine: RunningEngine, players: ScriptedRoles
) -> None:
    players.loop.by_question[BIRTH] = [
        lambda asked: [
            values(CITY, YEAR) if "hints" in asked.task else values(CITY, open=["her year"])
        ]
    ]

    job = await engine.run(
        "Who was she?", preset_name="vmao", servers=("lab",), agent_method="loop"
    )

    assert job.status == "done", job.message
    (stored, *_) = await task_queries.load_tasks(engine.db, job.job_id)
    assert (stored.attempt, stored.task.result) == (2, {"city": "Malmo", "year": 1871})
    first, again = players.loop.agents_asked
    assert "hints" not in first.task
    assert "earlier_attempt" not in first.task
    assert again.task["hints"]
    earlier = again.task["earlier_attempt"]
    assert earlier["found"] == [{"name": "city", "value": "Malmo"}]
    assert earlier["tried"] == [BIRTH]
    assert earlier["not_found"] == ["her year"]
    shown = [*again.task.get("kept", ()), *again.task["first_search"][0]["passages"]]
    assert BORN in json.dumps(shown), "the quote of the first attempt may be cited"
    kinds = [each.kind for each in await job_queries.events_after(engine.db, job.job_id, 0)]
    assert "task.verified" in kinds
    assert players.count(VERIFIER) == 1, "the failed result needed no model"


@pytest.mark.long
async def test_what_a_successful_agent_leaves_open_is_a_gap_of_the_report(
    engine: RunningEngine, players: ScriptedRoles
) -> None:
    unclear = "whether she was born before the fire of Malmo"
    players.loop.by_question = {BIRTH: [[values(CITY, YEAR, open=[unclear])]]}

    job = await run_agents(engine)
    report = await report_of(engine.holdfast, job.job_id)

    assert unclear in report.gaps


@pytest.mark.conformance("LOOP-04", "HZN-06")
@pytest.mark.long
async def test_each_agent_reads_the_passages_of_a_search_that_others_made(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    names = ("T1", "T2", "T3", "T4")
    asked = {name: f"Which parish is named in record {name}?" for name in names}
    players.plan = plan(*(agent_task(name, about=asked[name], yields=name) for name in names))
    record = "Parish records: A. Lindqvist, baptised in Malmo."
    players.loop.by_question = {
        question: [
            [search("Lindqvist parish records")],
            [values(value(name, "Malmo", 1, record))],
        ]
        for name, question in asked.items()
    }

    job = await run_agents(engine, slots="1")  # one after the other

    assert job.status == "done", job.message
    for name in names:
        assert await found_by(engine, job, name) == {name: "Malmo"}
    searches = [query for _, query in tools.called if query == "Lindqvist parish records"]
    assert len(searches) == 1, "the tool is asked once"
