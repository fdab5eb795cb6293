"""Tests that a question follows a job: it starts from what the job's report cites (REP-08)."""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from sqlalchemy import text

from holdfast.evidence.report_provenance import provenance_of
from holdfast.jobs.follow_up_request import follow_up_request
from holdfast.models.errors import BadInput, NotFound
from holdfast.models.evidence.evidence import Report
from holdfast.models.jobs.job_record import JobRequest
from holdfast.models.views.job_views import JobView
from holdfast.planning.strategies.strategy_presets import preset
from holdfast.storage.evidence import evidence_rows
from tests.support.endpoints.loop_script import answer, sentence
from tests.support.endpoints.scripted_roles import ScriptedRoles
from tests.support.jobs.running_engine import RunningEngine
from tests.support.tools.scripted_tools import ScriptedTools

pytestmark = [pytest.mark.slow, pytest.mark.conformance("REP-08")]

FIRST = "Who designed the Teal Bridge?"
SECOND = "And where did she study?"
DESIGN = "The Teal Bridge was designed by Ada Lindqvist."
STUDY = "Ada Lindqvist studied in Lund."
BRIDGE = f"{DESIGN} It opened in 1902. {STUDY}"
DESIGNED = sentence("Ada Lindqvist designed the Teal Bridge.", 1, DESIGN)
STUDIED = sentence("Ada Lindqvist studied in Lund.", 1, STUDY)


@pytest.fixture(autouse=True)
def _pages(tools: ScriptedTools) -> None:
    tools.answers = lambda query: BRIDGE if query == FIRST else ""


def request_of(name: str, question: str = SECOND) -> JobRequest:
    return JobRequest(
        question=question, preset=name, model="scripted", strategy=preset(name).strategy
    )


async def first_job(engine: RunningEngine, players: ScriptedRoles) -> JobView:
    players.loop.turns = [[answer("Ada Lindqvist", DESIGNED)]]
    return await engine.run(FIRST, preset_name="loop", servers=("lab",))


async def follow(
    engine: RunningEngine, players: ScriptedRoles, job: JobView, turns: list[Any]
) -> tuple[JobView, Report, Mapping[str, Any]]:
    """The job that follows, its report, and the first message of its loop."""
    players.loop.turns = turns
    asked = len(players.loop.asked)
    request = await follow_up_request(engine.holdfast, job.job_id, request_of("loop"))
    job_id = await engine.holdfast.submit(request)
    await engine.holdfast.wait(job_id)
    report = await evidence_rows.load_report(engine.db, job_id)
    assert report is not None
    first = json.loads(players.loop.asked[asked].turns[1]["content"])
    return await engine.holdfast.show(job_id), report, first


@pytest.mark.long
async def test_the_evidence_of_the_earlier_job_answers_a_follow_up(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    before = await first_job(engine, players)

    job, report, first = await follow(engine, players, before, [[answer("Lund", STUDIED)]])

    assert (job.status, job.answer) == ("done", "Lund"), job.message
    assert (job.question, job.follows) == (SECOND, before.job_id)
    assert first["question"] == f"{SECOND}\n\nAsked after:\n- {FIRST} Answer: Ada Lindqvist"
    (kept,) = first["kept"]
    assert " ".join(kept["sentences"]) == BRIDGE, "the whole passage, not only what was cited"
    assert tools.called[-1] == ("wikipedia_search", f"{SECOND} {FIRST} Ada Lindqvist")
    assert "passages" not in first["first_search"][0]
    assert job.calls.model == 2, "the answer and its judgement"
    (citation,) = report.citations
    assert citation.quote == STUDY
    trace = await provenance_of(engine.holdfast, job.job_id, citation.mark)
    assert trace.resolves
    assert f"job {before.job_id}, which this job follows" in trace.notes[0]
    assert "its report names it at mark 1" in trace.notes[0]


@pytest.mark.long
async def test_a_cited_passage_that_the_first_search_finds_is_shown_once(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    tools.answers = lambda query: BRIDGE
    before = await first_job(engine, players)

    job, _, first = await follow(engine, players, before, [[answer("Lund", STUDIED)]])

    assert job.answer == "Lund"
    assert json.dumps(first).count(STUDY) == 1


async def test_the_judge_knows_what_the_question_follows(
    engine: RunningEngine, players: ScriptedRoles
) -> None:
    before = await first_job(engine, players)

    await follow(engine, players, before, [[answer("Lund", STUDIED)]])

    assert FIRST in str(players.loop.judged[-1])


async def test_a_follow_up_of_a_follow_up_knows_the_whole_conversation(
    engine: RunningEngine, players: ScriptedRoles
) -> None:
    before = await first_job(engine, players)
    second, _, _ = await follow(engine, players, before, [[answer("Lund", STUDIED)]])

    third = await follow_up_request(engine.holdfast, second.job_id, request_of("loop", "Why?"))

    assert third.follow_up is not None
    told = [(each.question, each.answer) for each in third.follow_up.earlier]
    assert told == [(FIRST, "Ada Lindqvist"), (SECOND, "Lund")]
    assert third.servers == ("lab",)


@pytest.mark.long
async def test_a_follow_up_searches_when_the_earlier_job_was_removed(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    tools.answers = lambda query: BRIDGE
    before = await first_job(engine, players)
    request = await follow_up_request(engine.holdfast, before.job_id, request_of("loop"))
    async with engine.db.writing() as connection:
        await connection.execute(
            text("delete from reports where job_id = :id"), {"id": before.job_id}
        )
    players.loop.turns = [[answer("Lund", STUDIED)]]

    job_id = await engine.holdfast.submit(request)
    job = await engine.holdfast.wait(job_id)

    assert job.answer == "Lund"
    first = json.loads(players.loop.asked[-1].turns[1]["content"])
    assert "kept" not in first
    assert first["first_search"][0]["passages"]


@pytest.mark.long
async def test_only_an_ended_job_and_a_loop_can_be_followed(
    engine: RunningEngine, players: ScriptedRoles
) -> None:
    before = await first_job(engine, players)

    with pytest.raises(BadInput, match=r"kpi-chain.*the preset loop or research"):
        await follow_up_request(engine.holdfast, before.job_id, request_of("kpi-chain"))
    with pytest.raises(NotFound, match="there is no job 'nowhere'"):
        await follow_up_request(engine.holdfast, "nowhere", request_of("loop"))
    await follow_up_request(engine.holdfast, before.job_id, request_of("research"))
