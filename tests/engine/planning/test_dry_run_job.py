"""Tests for a dry run: the job is planned and estimated, and nothing is executed until the job is
resumed (WAVE-11)."""

from datetime import timedelta

import pytest

from holdfast.cli.render.estimate_lines import estimate_lines
from holdfast.jobs.dry_run_estimate import dry_run_of
from holdfast.jobs.job_controller import JobController
from holdfast.models.budget.cost_estimates import PlanEstimate, UsageMedians
from holdfast.models.budget.spend_breakdown import Tokens
from holdfast.models.errors import BadInput
from holdfast.planning.budget.estimate_calculation import estimate_plan
from holdfast.planning.strategies.strategy_presets import preset
from holdfast.roles.planning.planner import PLANNER
from holdfast.roles.tasks.extractor import EXTRACTOR
from holdfast.storage.views import job_queries
from holdfast.storage.views import statistics_queries as statistics
from tests.support.endpoints.scripted_model import ScriptedModel
from tests.support.endpoints.scripted_roles import ScriptedRoles
from tests.support.jobs.plan_builders import final_task, lookup_task, plan
from tests.support.jobs.running_engine import RunningEngine
from tests.support.tools.scripted_tools import ScriptedTools

THREE_STEPS = plan(
    lookup_task("T1", query="first"), lookup_task("T2", query="other"), final_task("T3", "T1", "T2")
)
WITHIN = timedelta(seconds=60)


def controls(engine: RunningEngine) -> JobController:
    return JobController(engine.holdfast, "someone")


@pytest.mark.slow
@pytest.mark.conformance("WAVE-11", "BEY-08")
async def test_a_dry_run_asks_the_planner_once_and_calls_no_tool(
    engine: RunningEngine, players: ScriptedRoles, model: ScriptedModel, tools: ScriptedTools
) -> None:
    players.plan = THREE_STEPS

    job = await engine.run("Who was first?", plan_only=True)

    assert (job.status, job.stop_reason, job.answer) == ("done", "planned", None)
    assert [(task.id, task.status) for task in job.tasks] == [
        ("T1", "pending"),
        ("T2", "pending"),
        ("T3", "pending"),
    ]
    assert (model.count, players.count(PLANNER), tools.called) == (1, 1, [])
    outcome = await dry_run_of(engine.holdfast, job.job_id)
    assert [task.id for task in outcome.tasks] == ["T1", "T2", "T3"]
    assert outcome.estimate.spent == job.tokens
    assert (outcome.estimate.tool_calls, outcome.estimate.model_calls) == (2, 4)
    assert outcome.estimate.tokens is None, "no such call was ever made here"
    recovered = (await statistics.run_statistics(engine.db, None)).success_after_replans
    assert set(recovered.values()) == {0}, "a job that was only planned is no success"


@pytest.mark.slow
@pytest.mark.conformance("WAVE-11")
async def test_resuming_a_dry_run_works_the_plan_that_was_paid(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    players.plan, tools.answers = THREE_STEPS, {"first": "one", "other": "two"}
    dry = await engine.run("Who was first?", plan_only=True)

    await controls(engine).resume(dry.job_id)
    await engine.holdfast.wait(dry.job_id, WITHIN)

    job = await engine.holdfast.show(dry.job_id)
    assert (job.status, job.stop_reason, job.answer) == ("done", "answered", "one & two")
    assert players.count(PLANNER) == 1
    assert sorted(argument for _, argument in tools.called) == ["first", "other"]
    kinds = [event.kind for event in await job_queries.events_after(engine.db, dry.job_id, 0)]
    assert kinds.count("plan.stored") == 1
    assert kinds.count("job.resumed") == 1
    with pytest.raises(BadInput, match="is done"):
        await controls(engine).resume(dry.job_id)


@pytest.mark.slow
@pytest.mark.conformance("BEY-08")
@pytest.mark.long
async def test_the_estimate_is_what_the_same_plan_took_before(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    players.plan, tools.answers = THREE_STEPS, {"first": "one", "other": "two"}
    before = await engine.run("Who was first?")

    dry = await engine.run("Who was first?", plan_only=True)

    told = (await dry_run_of(engine.holdfast, dry.job_id)).estimate
    assert (told.tool_calls, told.model_calls) == (before.calls.tool, before.calls.model - 1)
    assert [(role.role, role.calls, role.seen) for role in told.roles] == [
        ("extractor", 2, 2),
        ("reasoner", 1, 1),
        ("synthesiser", 1, 1),
    ]
    assert told.tokens is not None
    paid = before.tokens.input - dry.tokens.input
    assert abs(told.tokens.input - paid) < 0.05 * paid


@pytest.mark.slow
async def test_a_plan_that_is_refused_is_no_dry_run(
    engine: RunningEngine, players: ScriptedRoles
) -> None:
    players.plan = plan(lookup_task("T1", query="first"))

    job = await engine.run("Who was first?", plan_only=True, plan_tries=0)

    assert (job.status, job.stop_reason) == ("failed", "planning_failed")


@pytest.mark.slow
async def test_nothing_of_a_dry_run_can_be_retried_or_reported(
    engine: RunningEngine, players: ScriptedRoles
) -> None:
    players.plan = THREE_STEPS
    job = await engine.run("Who was first?", plan_only=True)

    with pytest.raises(BadInput, match="has not run yet"):
        await controls(engine).retry(job.job_id, ["T1"])
    with pytest.raises(BadInput, match="found nothing"):
        await controls(engine).write_partial_report(job.job_id)


def test_a_strategy_without_extraction_asks_no_extractor() -> None:
    reading = preset("full-horizon").strategy
    never = reading.model_copy(update={"extract_above": None})

    told = estimate_plan(THREE_STEPS, never, UsageMedians(), Tokens())
    told_of_reading = estimate_plan(THREE_STEPS, reading, UsageMedians(), Tokens())

    assert EXTRACTOR.name not in [role.role for role in told.roles]
    assert told.model_calls == 2
    assert told_of_reading.model_calls == 4, "each answer may be long passages of documents"


def test_what_is_not_known_is_said_to_be_unknown() -> None:
    told = estimate_plan(
        THREE_STEPS, preset("kpi-chain").strategy, UsageMedians(), Tokens(input=700, output=90)
    )

    lines = estimate_lines(told, "EUR")

    assert lines[0] == "would take: 2 tool calls, 4 model calls, tokens: unknown"
    assert all("tokens unknown" in line for line in lines[1:4])
    assert lines[-2] == "cost:       unknown, time: unknown"
    assert lines[-1] == "spent:      700 tokens in, 90 out, cost unknown"
    derived = {"model_calls", "tokens", "cost"}
    assert PlanEstimate.model_validate(told.model_dump(exclude=derived)) == told
