"""Tests for replanning: reasoning tasks, failures, feedback, continuations and their limits."""

import pytest

from holdfast.models.plans.kpi_chain_format import memory_document
from holdfast.roles.planning.replanner import REPLANNER
from holdfast.roles.tasks.reasoner import REASONER
from holdfast.storage.plans import task_queries
from holdfast.storage.views import job_queries
from holdfast.storage.views.statistics_queries import run_statistics
from tests.support.endpoints.scripted_model import ReceivedRequest, ScriptedModel, ScriptedReply
from tests.support.endpoints.scripted_roles import ScriptedRoles, extractor_script
from tests.support.jobs.plan_builders import final_task, lookup_task, plan, result_reference
from tests.support.jobs.running_engine import RunningEngine
from tests.support.long_parameters import mostly_long
from tests.support.tools.scripted_tools import ScriptedTools

pytestmark = pytest.mark.slow


def concluded(status: str, *values: object, **more: object) -> dict[str, object]:
    outputs = [{"name": "final_answer", "value": value} for value in values]
    return {"status": status, "outputs": outputs, "reasoning_steps": ["one", "two"], **more}


@pytest.mark.conformance("KPI-09")
async def test_a_reasoning_task_is_one_call_whose_steps_are_in_the_trace(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    players.plan, tools.answers = (
        plan(lookup_task("T1", query="a"), final_task("T2", "T1")),
        {"a": "Ada"},
    )
    players.parts["reasoner"] = lambda _: concluded("completed", "Ada")

    job = await engine.run("Who?")

    assert players.count(REASONER) == 1
    assert job.answer == "Ada"
    from sqlalchemy import select

    from holdfast.storage.core.tables.plan_tables import tasks

    async with engine.db.reading() as connection:
        trace = await connection.scalar(select(tasks.c.trace).where(tasks.c.id == "T2"))
    assert trace["reasoning_steps"] == ["one", "two"]


@pytest.mark.conformance("KPI-09")
@pytest.mark.parametrize(
    "answer",
    [
        concluded("failed", "Ada", explanation="two Adas are named"),
        concluded("completed", None, explanation="two Adas are named"),
        concluded("completed", explanation="two Adas are named"),
    ],
    ids=["failed", "null", "missing"],
)
@pytest.mark.long
async def test_failed_null_or_missing_outputs_are_a_failure_with_the_explanation(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools, answer: object
) -> None:
    players.plan, tools.answers = (
        plan(lookup_task("T1", query="a"), final_task("T2", "T1")),
        {"a": "Ada"},
    )
    other = final_task("T2a", "T1").with_description("name the Ada of whom T1 tells", "")
    players.continuations = [plan(other)]
    players.parts["reasoner"] = lambda _: (
        concluded("completed", "Ada") if players.count(REPLANNER) else answer
    )

    job = await engine.run("Who?")

    assert job.status == "done"
    (given,) = players.tasks(REPLANNER)
    assert given["failed_task_id"] == "T2"
    assert "two Adas are named" in given["feedback"]


@pytest.mark.conformance("KPI-11", "REP-07")
async def test_the_feedback_names_what_is_missing_the_confidence_and_the_reason(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    players.plan = plan(lookup_task("T1", query="a", yields="name"), final_task("T2"))
    players.plan = plan(
        lookup_task("T1", query="a"),
        final_task("T2", "T1").model_copy(update={"depends_on": ("T1",)}),
    )
    players.continuations = [
        plan(lookup_task("T1a", query="b"), final_task("T2a", "T1a")),
        plan(lookup_task("T1b", query="missing page"), final_task("T2b", "T1b")),
        plan(lookup_task("T1c", query="c"), final_task("T2c", "T1c")),
    ]
    parts = iter(
        [
            extractor_script(None, 0.15, summary="only her films are listed"),
            extractor_script("maybe Ada", 0.5, summary="two candidates"),
            extractor_script("Ada", 0.9),
        ]
    )
    players.parts["extractor"] = lambda asked: next(parts)(asked)
    tools.answers = {"a": "films", "b": "maybe Ada", "c": "Ada"}

    job = await engine.run("Who?")

    first, second, third = (given["feedback"] for given in players.tasks(REPLANNER))
    assert "'value' was not found" in first
    assert "very low (0.15)" in first
    assert "only her films are listed" in first
    assert "'value' is below the confidence of 0.7: 0.50" in second
    assert "two candidates" in second
    assert "Possible value: maybe Ada, read from “maybe Ada”." in second
    assert "no page for 'missing page'" in third
    assert (job.status, job.replans) == ("done", 3)


@pytest.mark.conformance("KPI-12", "HZN-03")
@pytest.mark.long
async def test_a_continuation_sees_the_trajectory_and_uses_what_was_found(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    players.plan = plan(
        lookup_task("T1", query="a"),
        lookup_task("T2", "T1", query="b"),
        lookup_task("T5", query="side"),
        final_task("T9", "T2", "T5"),
    )
    players.continuations = [
        plan(
            lookup_task("T2a", "T1", query=f"again {result_reference('T1')}"),
            final_task("T9a", "T2a", "T5"),
        )
    ]
    tools.answers = {"a": "Ada", "side": "Brink", "again Ada": "Cora"}

    job = await engine.run("Who?")

    (given,) = players.tasks(REPLANNER)
    shown = {task["id"]: task for task in given["current_plan"]}
    assert (shown["T1"]["status"], shown["T1"]["result"]) == ("done", {"value": "Ada"})
    assert (given["failed_task_id"], given["replaced"]) == ("T2", ["T2", "T9"])
    assert {task.id: task.status for task in job.tasks} == {
        "T1": "done",
        "T2": "superseded",
        "T5": "done",
        "T9": "superseded",
        "T2a": "done",
        "T9a": "done",
    }
    assert tools.called.count(("wikipedia_search", "side")) == 1
    assert job.answer == "Cora & Brink"


async def test_a_continuation_that_repeats_what_failed_is_taken_where_no_try_is_left(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    players.plan = plan(lookup_task("T1", query="nothing"), final_task("T2", "T1"))
    players.continuations = [
        plan(lookup_task("T1a", query="nothing"), final_task("T2a", "T1a")),
        plan(lookup_task("T1b", query="some"), final_task("T2b", "T1b")),
    ]
    tools.answers = {"nothing": "", "some": "Ada"}

    job = await engine.run("Who?", plan_tries=0)

    assert job.status == "done", job.message
    assert {"T1a", "T1b"} <= {task.id for task in job.tasks}


async def test_a_continuation_that_takes_a_used_id_is_sent_back(
    engine: RunningEngine, players: ScriptedRoles, model: ScriptedModel, tools: ScriptedTools
) -> None:
    players.plan = plan(lookup_task("T1", query="none"), final_task("T2", "T1"))
    players.continuations = [
        plan(lookup_task("T1", query="a"), final_task("T2a", "T1")),
        plan(lookup_task("T1a", query="a"), final_task("T2a", "T1a")),
    ]
    tools.answers = {"a": "Ada"}

    job = await engine.run("Who?")

    assert job.status == "done"
    assert "belongs to an earlier task" in players.asked["replanner"][1].turns[-1]["content"]


@pytest.mark.conformance("KPI-13")
@pytest.mark.long
async def test_after_three_replans_of_a_lineage_the_job_fails_and_names_it(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    players.plan = plan(lookup_task("T1", query="q0"), final_task("T2", "T1"))
    names = ("T1a", "T1b", "T1c")
    players.continuations = [
        plan(lookup_task(name, query=f"q{name}"), final_task(f"T2{name[-1]}", name))
        for name in names
    ]

    job = await engine.run("Who?")

    assert (job.status, job.stop_reason, job.replans) == ("failed", "replans_exhausted", 3)
    assert all(f"{name}:" in job.message for name in ("T1", *names))
    assert players.count(REPLANNER) == 3


@pytest.mark.conformance("KPI-13")
async def test_by_setting_the_job_goes_on_and_the_report_names_the_gap(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    players.plan = plan(
        lookup_task("T1", query="none"), lookup_task("T2", query="a"), final_task("T3", "T1", "T2")
    )
    tools.answers = {"a": "Ada"}

    job = await engine.run("Who?", max_replans_per_task="0", on_exhausted="continue")

    assert (job.status, job.stop_reason) == ("done", "answered_with_gaps")
    from holdfast.storage.evidence.evidence_rows import load_report

    report = await load_report(engine.db, job.job_id)
    assert report is not None
    assert any(gap.startswith("Not found: ") for gap in report.gaps)
    assert report.citations


@pytest.mark.conformance("KPI-10")
async def test_memory_is_the_document_of_listing_2_and_a_failed_task_leaves_it_unchanged(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    players.plan = plan(
        lookup_task("T1", query="a"), lookup_task("T2", "T1", query="none"), final_task("T3", "T2")
    )
    players.continuations = [plan(final_task("T3a", "T1"))]
    tools.answers = {"a": "Ada"}

    job = await engine.run("Who?")

    memory = memory_document(await task_queries.load_plan(engine.db, job.job_id))
    assert {name: memory[name] for name in memory if name != "current_plan"} == {
        "T1": {"value": "Ada"},
        "T3a": {"final_answer": "Ada"},
    }
    shown = {task["task_id"]: task for task in memory["current_plan"]["tasks"]}
    assert shown["T1"]["execution_result"] == {"value": "<ref:T1.value>"}
    assert shown["T2"]["execution_result"] == {}
    assert set(shown["T1"]) >= {
        "task_id",
        "task_description",
        "task_type",
        "tool_name",
        "input_parameters",
        "expected_output_entities",
        "dependencies",
        "execution_status",
        "execution_result",
    }


@pytest.mark.conformance("KPI-10")
@pytest.mark.parametrize(
    "value", mostly_long([7, ["a", "b"], "text", 2.5, {"x": [1]}, True], usual=2)
)
async def test_types_stay_through_memory(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools, value: object
) -> None:
    kinds = {
        str: "string",
        int: "integer",
        float: "number",
        list: "array",
        dict: "dict",
        bool: "boolean",
    }
    first = lookup_task("T1", query="a", kind=kinds[type(value)])
    players.plan = plan(first, final_task("T2", "T1"))
    players.parts["extractor"] = extractor_script(value, 0.9)
    players.parts["reasoner"] = lambda _: concluded("completed", "ok")
    tools.answers = {"a": "page"}

    job = await engine.run("What?")

    assert {task.id: task.entities for task in job.tasks}["T1"] == {"value": value}
    assert players.tasks(REASONER)[0]["inputs"][0]["value"] == value


@pytest.mark.conformance("KPI-15")
async def test_stats_count_calls_tokens_recoveries_and_failures_by_component(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    players.plan = plan(lookup_task("T1", query="a"), final_task("T2", "T1"))
    tools.answers = {"a": "Ada"}
    await engine.run("first try?")
    parts = iter([extractor_script(None, 0.1), extractor_script("Ada", 0.9)])
    players.parts["extractor"] = lambda asked: next(parts)(asked)
    players.continuations = [plan(lookup_task("T1a", query="a "), final_task("T2a", "T1a"))]
    tools.answers = lambda _: "Ada"
    await engine.run("second try?")
    players.plan = plan(lookup_task("T1"))
    await engine.run("never?")

    found = await run_statistics(engine.db, None)

    assert found.by_status == {"done": 2, "failed": 1}
    assert found.success_after_replans == {"0": 1, "1": 1, "2": 0, "3": 0, "more": 0}
    assert found.failures_by_component["extractor"] == 1
    assert found.failures_by_component["planner"] == 1
    roles = {share.name: share.calls for share in found.by_role}
    assert roles["planner"] == 1 + 1 + 4
    assert found.tokens.input == sum(share.input_tokens for share in found.by_role) > 0
    paid = found.tokens.input + found.tokens.output
    assert found.tokens_per_call == round(paid / found.calls.model, 1)
    assert found.tokens_per_job == round(paid / 3, 1)
    assert found.calls.tool == 3


@pytest.mark.conformance("KPI-15")
@pytest.mark.long
async def test_stats_tell_the_failures_of_all_five_components_apart(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    players.plan = plan(lookup_task("T1", query="none"), final_task("T2", "T1"))
    players.continuations = [plan(lookup_task("T9")) for _ in range(4)]
    job = await engine.run("refused?")
    assert "the replanner gave no valid plan" in job.message
    tools.answers = {"a": "Ada"}
    players.plan = plan(lookup_task("T1", query="a"), final_task("T2", "T1"))
    again = final_task("T2a", "T1").model_copy(update={"description": "answer by the name"})
    players.continuations = [plan(again)]
    verdicts = iter([concluded("failed", None), concluded("completed", "Ada")])
    players.parts["reasoner"] = lambda _: next(verdicts)
    assert (await engine.run("deduced?")).status == "done"

    found = (await run_statistics(engine.db, None)).failures_by_component

    assert {name: count for name, count in found.items() if count} == {
        "tool": 1,
        "reasoner": 1,
        "replanner": 1,
    }
    assert {"planner", "extractor"} <= set(found)


@pytest.mark.long
async def test_a_report_that_cites_what_is_not_there_is_not_delivered(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    players.plan, tools.answers = (
        plan(lookup_task("T1", query="a"), final_task("T2", "T1")),
        {"a": "Ada"},
    )
    wrong = {"summary": [{"text": "Ada.", "evidence": ["E99"]}], "findings": [], "gaps": []}
    players.parts["synthesiser"] = lambda _: wrong

    job = await engine.run("Who?")

    assert (job.status, job.stop_reason) == ("failed", "report_refused")
    assert "'E99', which is not among the evidence" in job.message
    assert job.answer == "Ada"
    kinds = [event.kind for event in await job_queries.events_after(engine.db, job.job_id, 0)]
    assert "report.delivered" not in kinds


async def test_a_busy_model_is_asked_again_and_nothing_that_came_back_is_paid_twice(
    engine: RunningEngine, players: ScriptedRoles, model: ScriptedModel, tools: ScriptedTools
) -> None:
    players.plan, tools.answers = (
        plan(lookup_task("T1", query="a"), final_task("T2", "T1")),
        {"a": "Ada"},
    )
    replies = iter([ScriptedReply(status=503, error={"message": "overloaded"}), None])

    def part(asked: ReceivedRequest) -> object:
        return next(replies) or extractor_script("Ada", 0.9)(asked)

    players.parts["extractor"] = part

    job = await engine.run("Who?")

    assert job.status == "done"
    assert tools.called == [("wikipedia_search", "a")], "the tool's answer came from the ledger"
    calls = {
        call.role or call.kind: call for call in await job_queries.job_calls(engine.db, job.job_id)
    }
    assert calls["extractor"].sends == 2
    assert calls["tool"].reused == 1
