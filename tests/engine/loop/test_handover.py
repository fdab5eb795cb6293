"""Tests of the preset `research`: one cited loop first, then a plan for what the loop leaves open."""

import json
from typing import Any

import pytest
from sqlalchemy import select

from holdfast.models.evidence.evidence import Report
from holdfast.models.jobs.job_record import StopReason
from holdfast.models.jobs.job_state import AgentTaskReceipt
from holdfast.models.views.job_views import JobView
from holdfast.roles.planning.planner import AGENT_TASK_PLANNER, CONTINUED_PLANNER
from holdfast.roles.reports.synthesiser import SYNTHESISER
from holdfast.storage.core.tables.job_tables import receipts
from holdfast.storage.evidence import evidence_rows
from holdfast.storage.ledger.spending_queries import tokens_of
from holdfast.storage.views import job_queries
from tests.support.endpoints.loop_script import ACCEPTED, answer, search, sentence
from tests.support.endpoints.scripted_roles import ScriptedRoles
from tests.support.jobs.plan_builders import agent_task, plan
from tests.support.jobs.running_engine import RunningEngine
from tests.support.long_parameters import only_long
from tests.support.tools.scripted_tools import ScriptedTools

pytestmark = pytest.mark.slow

QUESTION = "In which city was the designer of the Teal Bridge born?"
BRIDGE = "The Teal Bridge was designed by Ada Lindqvist. It opened in 1911."
BIRTH = "Ada Lindqvist was born in Malmo and studied in Lund."
OPEN = "where Ada Lindqvist was born"
DESIGNED = sentence(
    "Ada Lindqvist designed the Teal Bridge.", 1, "The Teal Bridge was designed by Ada Lindqvist."
)
BORN = sentence("Ada Lindqvist was born in Malmo.", 2, "Ada Lindqvist was born in Malmo")
LOOK = "Find the birthplace of Ada Lindqvist in the parish records"
PLAN = plan(agent_task("T1", about=LOOK, yields="birthplace"))


async def report_of(engine: RunningEngine, job: JobView) -> Report:
    report = await evidence_rows.load_report(engine.db, job.job_id)
    assert report is not None
    return report


async def run_research(engine: RunningEngine, **settings: Any) -> JobView:
    return await engine.run(QUESTION, preset_name="research", servers=("lab",), **settings)


@pytest.fixture(autouse=True)
def _pages(tools: ScriptedTools, players: ScriptedRoles) -> None:
    pages = {QUESTION: BRIDGE, "Teal Bridge": BRIDGE, "Ada Lindqvist": BIRTH, LOOK: BIRTH}
    tools.answers = lambda query: pages.get(query, "")
    players.plan = PLAN


async def stages_of(job: JobView) -> list[str]:
    return [each.id for each in job.tasks if "." not in each.id]


@pytest.mark.conformance("LOOP-04", "MOD-07")
async def test_a_question_that_the_loop_answers_is_never_planned(
    engine: RunningEngine, players: ScriptedRoles
) -> None:
    players.loop.turns = [[search("Ada Lindqvist")], [answer("Malmo", DESIGNED, BORN)]]

    job = await run_research(engine)
    report = await report_of(engine, job)

    assert (job.status, job.stop_reason, job.answer) == ("done", StopReason.ANSWERED, "Malmo")
    assert players.asked == {}, "no planner, verifier or writer"
    assert (len(players.loop.asked), len(players.loop.judged)) == (2, 1)
    assert [each.text for each in report.findings] == [DESIGNED["text"], BORN["text"]]
    assert await stages_of(job) == ["T0"]


@pytest.mark.conformance("LOOP-04")
@pytest.mark.long
async def test_what_the_searches_leave_open_is_planned_with_what_was_proven(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    players.loop.turns = [[search("Teal Bridge")], [answer("", DESIGNED, open=[OPEN])]]

    job = await run_research(engine)
    report = await report_of(engine, job)

    (given,) = players.tasks(CONTINUED_PLANNER)
    assert given["found"] == {
        "task": "T0",
        "why": "no answer was found",
        "proven": [{"text": DESIGNED["text"], "sources": given["found"]["proven"][0]["sources"]}],
        "open": [OPEN],
        "tried": [QUESTION, "Teal Bridge"],
    }
    assert await stages_of(job) == ["T0", "T1"]
    assert job.status == "done"
    queries = [query for _, query in tools.called]
    assert queries == [QUESTION, "Teal Bridge", LOOK], "nothing is looked for again"
    quotes = [each.quote for each in report.citations]
    assert DESIGNED["cites"][0]["quote"] in quotes, "the report cites the loop's evidence"
    assert any("born in Malmo" in quote for quote in quotes), "and the evidence of the plan"
    handed = await job_events(engine, job, "loop.handed_over")
    assert [(each["cause"], each["proven"], each["open"]) for each in handed] == [("open", 1, 1)]
    assert handed[0]["why"] == f"not found: {OPEN}", "people see the words, not the list"


@pytest.mark.long
async def test_the_writer_is_told_which_sentence_each_quote_of_the_loop_proves(
    engine: RunningEngine, players: ScriptedRoles
) -> None:
    players.loop.turns = [[search("Teal Bridge")], [answer("", DESIGNED, open=[OPEN])]]

    await run_research(engine)

    (told,) = players.tasks(SYNTHESISER)
    shown = {each["quote"]: each["shows"] for each in told["evidence"]}
    assert shown[DESIGNED["cites"][0]["quote"]] == DESIGNED["text"]
    assert "None" not in json.dumps(told["evidence"])


async def handed_over(engine: RunningEngine, job: JobView) -> list[tuple[object, object]]:
    """The cause and the words of each hand-over."""
    facts = await job_events(engine, job, "loop.handed_over")
    return [(each["cause"], each["why"]) for each in facts]


async def job_events(engine: RunningEngine, job: JobView, kind: str) -> list[dict[str, Any]]:
    entries = await job_queries.events_after(engine.db, job.job_id, 0)
    return [dict(each.facts) for each in entries if each.kind == kind]


@pytest.mark.conformance("LOOP-04")
@pytest.mark.long
async def test_a_wide_question_is_planned_by_the_sub_questions_of_the_first_reply(
    engine: RunningEngine, players: ScriptedRoles
) -> None:
    parts = ["Who designed the Teal Bridge?", "Where was Ada Lindqvist born?"]
    players.loop.turns = [[("split", {"sub_questions": parts})]]

    job = await run_research(engine)

    (given,) = players.tasks(CONTINUED_PLANNER)
    assert given["found"]["open"] == parts
    assert given["found"]["read"][0]["text"] == BRIDGE, "what the first search read"
    assert len(players.loop.asked) == 1
    assert QUESTION not in [each["question"] for each in players.loop.judged]
    assert await handed_over(engine, job) == [("wide", "the question is wide: 2 sub-questions")]
    assert job.status == "done"
    (written,) = players.tasks(SYNTHESISER)
    assert [each["task"] for each in written["results"]] == ["T1"], "the loop has no result"


@pytest.mark.long
async def test_a_question_is_split_in_the_first_reply_only(
    engine: RunningEngine, players: ScriptedRoles
) -> None:
    late = [("split", {"sub_questions": ["Who?", "Where?"]})]
    players.loop.turns = [[search("Ada Lindqvist")], late, [answer("Malmo", DESIGNED, BORN)]]

    job = await run_research(engine)

    assert "`split` is for the first reply" in players.loop.asked[2].turns[-1]["content"]
    assert job.answer == "Malmo"


@pytest.mark.conformance("LOOP-04")
@pytest.mark.parametrize(
    ("settings", "limit"),
    [
        only_long({"max_turns": "2"}, "1 turn was taken (max_turns 2)"),
        ({"max_agent_calls": "2"}, "2 tool calls were made (max_agent_calls)"),
        ({"max_loop_tokens": "10"}, "tokens were spent (max_loop_tokens 10)"),
    ],
)
async def test_a_limit_ends_the_loop_and_the_planner_takes_over(
    engine: RunningEngine, players: ScriptedRoles, settings: dict[str, str], limit: str
) -> None:
    ends = answer("", DESIGNED, open=[OPEN])
    players.loop.turns = [
        lambda asked: [ends if "max_" in asked.turns[-1]["content"] else search("Teal Bridge")]
    ]

    job = await run_research(engine, **settings)

    ((cause, why),) = await handed_over(engine, job)
    assert cause == "limit"
    assert limit in str(why)
    (given,) = players.tasks(CONTINUED_PLANNER)
    assert given["found"]["why"] in str(why)
    assert OPEN not in given["found"]["why"], "what is open is told once"
    assert given["found"]["open"] == [OPEN]
    assert [each["text"] for each in given["found"]["proven"]] == [DESIGNED["text"]]


@pytest.mark.conformance("LOOP-04")
@pytest.mark.parametrize(
    ("judgement", "settings", "cause"),
    [
        (ACCEPTED | {"answer_follows": False}, {}, "do not give the answer 'Malmo'"),
        (
            ACCEPTED | {"weakest": 2, "strength": "weak"},
            {"loop_confidence": "0.7"},
            "a confidence of 0.55, and 0.7 is needed (loop_confidence)",
        ),
        only_long(
            ACCEPTED | {"not_shown": [{"n": 1}, {"n": 2}]}, {}, "no quote shows the answer 'Malmo'"
        ),
    ],
)
async def test_an_answer_that_the_proof_refuses_is_handed_over(
    engine: RunningEngine,
    players: ScriptedRoles,
    judgement: dict[str, Any],
    settings: dict[str, str],
    cause: str,
) -> None:
    players.loop.turns = [[search("Ada Lindqvist")], [answer("Malmo", DESIGNED, BORN)]]
    players.loop.judgements = [judgement]

    job = await run_research(engine, **settings)

    ((named, why),) = await handed_over(engine, job)
    assert (named, cause in str(why)) == ("refused", True), why
    (given,) = players.tasks(CONTINUED_PLANNER)
    assert "whether this is the answer: Malmo" in given["found"]["open"]
    assert await stages_of(job) == ["T0", "T1"]


async def test_a_task_of_the_plan_may_build_on_what_the_loop_proved(
    engine: RunningEngine, players: ScriptedRoles
) -> None:
    players.loop.turns = [[answer("", DESIGNED, open=[OPEN])]]
    players.plan = plan(agent_task("T1", "T0", about=LOOK, yields="birthplace"))

    job = await run_research(engine)

    (given,) = players.loop.tasks(LOOK)
    (shown,) = given["given"]
    assert (shown["name"], shown["value"]) == ("T0.proven_sentences", DESIGNED["text"])
    (kept,) = given["kept"]
    assert kept["sentences"] == [DESIGNED["cites"][0]["quote"]]
    assert job.status == "done"


@pytest.mark.long
async def test_a_loop_without_a_valid_call_leaves_the_question_to_the_planner(
    engine: RunningEngine, players: ScriptedRoles
) -> None:
    players.loop.turns = [[("browse", {})]]

    job = await run_research(engine, plan_tries="0")

    (given,) = players.tasks(CONTINUED_PLANNER)
    assert "there is no function 'browse'" in given["found"]["why"]
    assert given["found"]["task"] == "", "no task can depend on a loop that failed"
    assert {task.id: task.status for task in job.tasks}["T0"] == "failed"
    assert (job.status, job.stop_reason) == ("done", StopReason.ANSWERED)


@pytest.mark.long
async def test_a_planner_that_expects_nothing_more_leaves_the_report_to_the_loop(
    engine: RunningEngine, players: ScriptedRoles
) -> None:
    players.loop.turns = [[answer("", DESIGNED, open=[OPEN])]]
    players.plan = plan()

    job = await run_research(engine)
    report = await report_of(engine, job)

    assert (job.status, job.stop_reason) == ("done", StopReason.ANSWERED_WITH_GAPS)
    assert [each.text for each in report.findings] == [DESIGNED["text"]]
    assert report.gaps == (OPEN,)
    assert "synthesiser" not in players.asked


@pytest.mark.conformance("LOOP-04", "MOD-07")
@pytest.mark.parametrize(
    ("settings", "asked", "ending"),
    [
        ({}, 0, StopReason.ANSWERED),
        ({"loop_confidence": "0.7"}, 1, StopReason.ANSWERED_WITH_GAPS),
    ],
)
@pytest.mark.long
async def test_an_answer_with_a_weak_link_stands_and_is_planned_only_below_the_least_confidence(
    engine: RunningEngine,
    players: ScriptedRoles,
    settings: dict[str, str],
    asked: int,
    ending: StopReason,
) -> None:
    players.loop.turns = [[search("Ada Lindqvist")], [answer("Malmo", DESIGNED, BORN)]]
    players.loop.judgements = [ACCEPTED | {"weakest": 2, "strength": "weak"}]
    players.plan = plan()

    job = await run_research(engine, **settings)
    report = await report_of(engine, job)

    assert len(players.tasks(CONTINUED_PLANNER)) == asked
    assert (job.status, job.stop_reason) == ("done", ending)
    assert (job.answer, report.answer, report.confidence) == ("Malmo", "Malmo", 0.55)
    assert [each.strength for each in report.findings] == ["stated", "weak"]


@pytest.mark.long
async def test_an_answer_that_its_sentences_do_not_give_never_stands(
    engine: RunningEngine, players: ScriptedRoles
) -> None:
    players.loop.turns = [[search("Ada Lindqvist")], [answer("Malmo", DESIGNED, BORN)]]
    players.loop.judgements = [ACCEPTED | {"answer_follows": False}]
    players.plan = plan()

    job = await run_research(engine)
    report = await report_of(engine, job)

    assert (job.stop_reason, job.answer) == (StopReason.ANSWERED_WITH_GAPS, None)
    assert "Possible, but not shown by the sources: Malmo" in report.gaps


@pytest.mark.long
async def test_without_a_valid_plan_what_the_loop_proved_is_reported(
    engine: RunningEngine, players: ScriptedRoles
) -> None:
    players.loop.turns = [[answer("", DESIGNED, open=[OPEN])]]
    players.plan = plan(agent_task("T1", "T9", about=LOOK))

    job = await run_research(engine, plan_tries="0")
    report = await report_of(engine, job)

    assert (job.status, job.stop_reason) == ("failed", StopReason.PLANNING_FAILED)
    assert [each.text for each in report.findings] == [DESIGNED["text"]]


@pytest.mark.long
async def test_begins_with_plan_is_the_planned_part_alone(
    engine: RunningEngine, players: ScriptedRoles
) -> None:
    job = await run_research(engine, begins_with="plan")

    assert await stages_of(job) == ["T1"]
    assert players.loop.asked == []
    assert len(players.tasks(AGENT_TASK_PLANNER)) == 1


@pytest.mark.long
async def test_the_receipt_of_a_turn_counts_the_tokens_of_the_judge(
    engine: RunningEngine, players: ScriptedRoles
) -> None:
    players.loop.turns = [[answer("Ada Lindqvist", DESIGNED)]]

    job = await run_research(engine)

    query = select(receipts.c.body).where(
        receipts.c.job_id == job.job_id, receipts.c.key.startswith("T0#1/")
    )
    async with engine.db.reading() as connection:
        turns = [AgentTaskReceipt.model_validate(body) for body in await connection.scalars(query)]
        spent = await tokens_of(connection, job.job_id)
    assert len(players.loop.judged) == 1
    assert sum(turn.result.tokens for turn in turns) == spent.input + spent.output > 0
