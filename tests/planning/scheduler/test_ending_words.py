"""Tests for what the ending of a job says to the reader of its report."""

from dataclasses import replace

import pytest

from holdfast.models.jobs.job_state import JobState, TaskState, VerificationProgress
from holdfast.models.plans.research_plan import TaskKind, TaskStatus
from holdfast.models.strategies.job_strategy import Strategy
from holdfast.models.verification.verification_verdicts import StopCondition
from holdfast.planning.scheduler.job_endings import job_ending
from holdfast.planning.scheduler.state_transitions import with_tasks
from holdfast.roles.extractive.planning.planner_rules import SUPPORTING_PASSAGE, TELLING_PASSAGE


@pytest.mark.conformance("REP-03")
@pytest.mark.parametrize("stop", StopCondition)
@pytest.mark.parametrize("name", [TELLING_PASSAGE, SUPPORTING_PASSAGE, "net_cost"])
def test_a_job_that_found_nothing_says_it_without_internal_names(
    stop: StopCondition, name: str
) -> None:
    task = TaskState(id="T1", kind=TaskKind.AGENT, label="T1", depends_on=(), root="T1")
    note = f"Entity {name!r} was not found. The agent gave up."
    failed = task.with_status(TaskStatus.FAILED).model_copy(update={"note": note})
    state = with_tasks(JobState(strategy=Strategy(verify=True), has_plan=True), [failed])

    ending = job_ending(replace(state, rounds=VerificationProgress(verified=2, stop=stop)))

    assert f"stopped after round 2: {stop.in_words}. T1: " in ending.message
    assert "was not found. The agent gave up." in ending.message
    assert stop.value not in ending.message
    assert name not in ending.message
    assert "_" not in ending.message
