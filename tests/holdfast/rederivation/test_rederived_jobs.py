"""Tests that what a job decided is derived again without a model, and that a change is noticed."""

import io
from datetime import timedelta

import psycopg
import pytest

from holdfast.bundles.bundle_import import import_bundle
from holdfast.bundles.bundle_writer import write_bundle
from holdfast.models.bundles.bundle_manifest import Redaction
from holdfast.records.fork_submission import ForkSubmission
from holdfast.records.job_forking import fork_job
from holdfast.rederivation.job_rederivation import rederive_job
from holdfast.rederivation.rederived_decisions import DecisionKind, Outcome, Rederivation
from tests.support.endpoints.scripted_model import ReceivedRequest
from tests.support.endpoints.scripted_roles import ScriptedRoles, verifier_answer
from tests.support.jobs.plan_builders import agent_task, plan
from tests.support.jobs.running_engine import RunningEngine
from tests.support.tools.scripted_tools import ScriptedTools


@pytest.fixture
async def job(engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools) -> str:
    """A job of two rounds: T2 is incomplete at first, and runs again."""
    tools.answers = lambda argument: f"The light {argument} was built in 1862."
    players.plan = plan(agent_task("T1"), agent_task("T2", "T1"))
    seen: list[str] = []

    def judge(asked: ReceivedRequest) -> object:
        name = asked.task["id"]
        seen.append(name)
        return verifier_answer(0.4 if name == "T2" and seen.count(name) == 1 else 0.95)

    players.parts["verifier"] = judge
    players.parts["gap_planner"] = lambda _asked: {
        "explanation": "once more",
        "retry_sub_questions": [{"id": "T2"}],
        "new_sub_questions": [],
    }
    done = await engine.run("When was it built?", preset_name="vmao", servers=("lab",))
    assert done.status == "done", done.message
    return done.job_id


def outcomes(result: Rederivation) -> dict[DecisionKind, set[Outcome]]:
    return {
        kind: {each.outcome for each in result.decisions if each.kind is kind}
        for kind in DecisionKind
    }


def different(result: Rederivation) -> set[tuple[DecisionKind, str]]:
    return {
        (each.kind, each.name) for each in result.decisions if each.outcome is Outcome.DIFFERENT
    }


def execute(database_url: str, statement: str) -> None:
    with psycopg.connect(database_url.replace("+psycopg", ""), autocommit=True) as connection:
        assert connection.execute(statement).rowcount  # type: ignore[arg-type]  # tests' own words


@pytest.mark.conformance("WAVE-10")
async def test_every_decision_is_derived_again_without_a_model(
    engine: RunningEngine, job: str, players: ScriptedRoles
) -> None:
    asked = sum(map(len, players.asked.values()))

    result = await rederive_job(engine.holdfast, job)

    assert outcomes(result) == {kind: {Outcome.SAME} for kind in DecisionKind}, result.decisions
    names = [each.name for each in result.decisions if each.kind is DecisionKind.VERDICT]
    assert names == ["round 1, T1", "round 1, T2", "round 2, T1", "round 2, T2"]
    assert sum(map(len, players.asked.values())) == asked


@pytest.mark.conformance("WAVE-10")
async def test_what_was_altered_is_different(
    engine: RunningEngine, job: str, database_url: str
) -> None:
    first, second = "where round = 1", "where round = 2"
    for kind, name, statement in (
        (DecisionKind.STOP_CONDITIONS, "round 1", f"update stop_log set complete = 2 {first}"),
        (DecisionKind.STOP_CONDITIONS, "2", f"update stop_log set fired = 'max_rounds' {second}"),
        (DecisionKind.VERDICT, "2, T2", f"update verifications set confidence = 0.1 {second}"),
        (DecisionKind.PLAN_CHANGE, "its reply", "update tasks set description = 'another'"),
        (DecisionKind.PLAN_CHANGE, "(planned)", "update plan_changes set depth = depth + 1"),
        (DecisionKind.DELIVERY_CHECK, "", "update sources set text = text || '!'"),
    ):
        before = different(await rederive_job(engine.holdfast, job))
        execute(database_url, statement)

        result = await rederive_job(engine.holdfast, job)

        found = different(result) - before
        assert any(each == kind and known.endswith(name) for each, known in found), (kind, name)
        assert not result.is_same


@pytest.mark.conformance("WAVE-10")
async def test_a_fork_differs_in_nothing_and_leaves_copied_plan_changes_to_the_forked_job(
    engine: RunningEngine, job: str
) -> None:
    submission = ForkSubmission(tasks=("T2",))
    forked = await fork_job(engine.holdfast, job, submission, owner="", by="dana")
    ended = await engine.holdfast.wait(forked.job_id, timedelta(seconds=240))
    assert ended.status.is_final

    result = await rederive_job(engine.holdfast, forked.job_id)

    assert result.is_same, result.decisions
    copied = [each for each in result.decisions if "copied" in each.note]
    assert copied
    assert {each.kind for each in copied} == {DecisionKind.PLAN_CHANGE}


@pytest.mark.conformance("WAVE-10")
async def test_an_imported_job_is_derived_again_as_far_as_its_bundle_allows(
    engine: RunningEngine, job: str
) -> None:
    for name, redacted in (("whole", ()), ("redacted", (Redaction.PROMPTS,))):
        out = io.BytesIO()
        await write_bundle(engine.holdfast, job, out, redacted=redacted)
        await import_bundle(engine.holdfast, out, new_id=name)

    whole = await rederive_job(engine.holdfast, "whole")
    redacted_job = await rederive_job(engine.holdfast, "redacted")

    assert outcomes(whole) == {kind: {Outcome.SAME} for kind in DecisionKind}
    assert Outcome.NOT_DERIVABLE in outcomes(redacted_job)[DecisionKind.VERDICT]
    assert redacted_job.is_same
