"""Tests for planning a job: the planner's input, the correction of a bad plan, and what is stored
before work starts."""

import pytest
from sqlalchemy import create_engine, text

from holdfast.roles.planning.planner import PLANNER
from holdfast.storage.plans import plan_change_rows
from holdfast.storage.views import job_queries
from tests.support.endpoints.scripted_model import ScriptedModel, ScriptedReply
from tests.support.endpoints.scripted_roles import ScriptedRoles, planner_answer
from tests.support.jobs.plan_builders import final_task, lookup_task, plan, result_reference
from tests.support.jobs.running_engine import RunningEngine
from tests.support.tools.scripted_tools import ScriptedTools

TWO_STEPS = plan(lookup_task("T1", query="first"), final_task("T2", "T1"))


@pytest.mark.conformance("KPI-02")
async def test_the_planner_gets_the_question_and_the_signatures(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    players.plan, tools.answers = TWO_STEPS, {"first": "one"}

    job = await engine.run("Who was first?")

    assert job.status == "done"
    (given,) = players.tasks(PLANNER)
    assert given["question"] == "Who was first?"
    search = next(tool for tool in given["tools"] if tool.startswith("lab.wikipedia_search("))
    assert search.startswith("lab.wikipedia_search(query: string")
    assert search.endswith("): Search Wikipedia for information.")
    corpus = next(tool for tool in given["tools"] if tool.startswith("corpus.search("))
    parameters = corpus.partition("): ")[0]
    assert "collection" not in parameters, (
        "what Holdfast fills in itself is hidden from the planner"
    )


@pytest.mark.conformance("KPI-02")
async def test_a_bad_plan_is_sent_back_with_its_exact_faults(
    engine: RunningEngine, players: ScriptedRoles, model: ScriptedModel, tools: ScriptedTools
) -> None:
    players.plan, tools.answers = TWO_STEPS, {"first": "one"}
    model.push(ScriptedReply(content="I would rather not.", is_lax=True))
    model.push(
        ScriptedReply.playing(
            PLANNER, {"tasks": [{"id": "T1", "kind": "tool", "description": "d", "tool": "dig"}]}
        )
    )

    job = await engine.run("Who was first?")

    assert job.status == "done"
    third = players.asked["planner"][0].turns
    assert [turn["role"] for turn in third] == [
        "system",
        "user",
        "assistant",
        "user",
        "assistant",
        "user",
    ]
    assert "unknown tool 'dig'" in third[-1]["content"]
    assert "'T1'" in third[-1]["content"]


@pytest.mark.conformance("KPI-02")
async def test_after_three_corrections_the_job_fails_and_every_attempt_is_stored(
    engine: RunningEngine, players: ScriptedRoles
) -> None:
    players.plan = plan(lookup_task("T1", query="first"))

    job = await engine.run("Who was first?")

    assert (job.status, job.stop_reason) == ("failed", "planning_failed")
    assert "'T1'" in job.message
    assert "final_answer" in job.message
    assert players.count(PLANNER) == 4
    stored = await job_queries.job_calls(engine.db, job.job_id)
    assert [(call.role, call.status) for call in stored] == [("planner", "done")] * 4
    assert job.tasks == ()


@pytest.mark.conformance("KPI-04")
async def test_the_whole_plan_is_stored_as_pending_before_anything_runs(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools, database_url: str
) -> None:
    drafted = planner_answer(
        plan(
            lookup_task("T1", query="first"),
            lookup_task("T2", "T1", query="next"),
            final_task("T3", "T2"),
        )
    )
    claimed = [each | {"status": "done"} for each in drafted["tasks"]]
    players.parts["planner"] = lambda _: ScriptedReply.lax(drafted | {"tasks": claimed})
    seen: list[dict[str, str]] = []

    def answer(_: str) -> str:
        reader = create_engine(database_url)
        with reader.connect() as connection:
            rows = connection.execute(text("select id, status from tasks"))
            seen.append({row[0]: row[1] for row in rows})
        reader.dispose()
        return "found"

    tools.answers = answer

    job = await engine.run("Who was first?")

    assert seen[0] == {"T1": "running", "T2": "pending", "T3": "pending"}
    log = [
        (event.kind, event.task)
        for event in await job_queries.events_after(engine.db, job.job_id, 0)
    ]
    assert log.index(("plan.stored", "")) < log.index(("task.started", "T1"))


@pytest.mark.conformance("HZN-05")
async def test_depth_and_breadth_are_stored_and_shown(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    players.plan = plan(
        lookup_task("T1"),
        lookup_task("T2"),
        lookup_task("T3", "T2", query=f"of {result_reference('T2')}"),
        final_task("T4", "T1", "T3"),
    )
    tools.answers = lambda argument: argument

    job = await engine.run("How deep?")

    assert (job.depth, job.breadth) == (3, 1.333)
    (revision,) = await plan_change_rows.load_plan_changes(engine.db, job.job_id)
    assert (revision.depth, revision.breadth) == (3, 1.333)
