"""Tests for `holdfast verification`: the verification rounds as people see them."""

import pytest

from holdfast.cli.render.evidence.verification_lines import contradiction_line, round_lines
from holdfast.jobs.verification_lookup import verification_of
from holdfast.models.errors import NotFound
from holdfast.models.verification.verification_verdicts import StopCondition
from holdfast.models.verification.verification_views import VerificationView
from tests.support.endpoints.scripted_model import ReceivedRequest
from tests.support.endpoints.scripted_roles import ScriptedRoles, verifier_answer
from tests.support.jobs.running_engine import RunningEngine
from tests.support.jobs.verification_job import store_verification_job, verified_agent_task


@pytest.fixture
def engine(scripted_engine: RunningEngine) -> RunningEngine:
    return scripted_engine


def claims(asked: ReceivedRequest) -> object:
    """Both results contradict each other."""
    mine, other = asked.task["id"], {"T1": "T2", "T2": "T1"}[asked.task["id"]]
    found = [{"claim": f"{mine} is so", "against": f"{other} is so", "other": other}]
    return verifier_answer(0.9, contradictions=found)


@pytest.mark.conformance("VMAO-09", "WAVE-08")
async def test_the_stop_log_and_both_sides_of_a_contradiction_are_shown(
    engine: RunningEngine, players: ScriptedRoles
) -> None:
    job = await store_verification_job(
        engine, [verified_agent_task("T1"), verified_agent_task("T2")], max_rounds=1
    )
    for name in ("T1", "T2"):
        await job.found(name, quote=name, value=name)
    players.parts["verifier"] = claims
    await job.verify(1)

    view = await verification_of(engine.db, job.job_id)

    assert view.stopped_by is StopCondition.MAX_ROUNDS
    (only,) = view.rounds
    first, *conditions = round_lines(only.check)
    assert first == "round 1: stopped: max_rounds"
    assert conditions[0] == "    ready_threshold: 0 of 2 complete (0.0%), wanted 80.0%"
    assert conditions[4] == "  * max_rounds: round 1 of 1"
    (found,) = view.contradictions
    assert contradiction_line(found) == (
        "contradiction of T1 and T2: T1 is so / T2 is so (not settled)"
    )
    settled = found.model_copy(update={"settled_by": "T3"})
    assert contradiction_line(settled).endswith("(settled by T3)")
    assert VerificationView.model_validate_json(view.model_dump_json()) == view


async def test_a_job_that_was_not_verified_has_no_rounds_and_an_unknown_one_is_named(
    engine: RunningEngine,
) -> None:
    job = await store_verification_job(engine, [verified_agent_task("T1")])

    view = await verification_of(engine.db, job.job_id)

    assert (view.rounds, view.stopped_by, view.contradictions) == ((), None, ())
    with pytest.raises(NotFound, match="job-9"):
        await verification_of(engine.db, "job-9")
