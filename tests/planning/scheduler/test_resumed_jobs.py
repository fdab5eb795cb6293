"""Tests for what runs again when a person resumes an ended job, and for when that is refused."""

from dataclasses import replace

import pytest

from holdfast.models.errors import BadInput
from holdfast.models.jobs.job_state import (
    JobState,
    TaskState,
    VerificationProgress,
    Verify,
)
from holdfast.models.plans.research_plan import TaskKind, TaskStatus
from holdfast.models.strategies.job_strategy import Strategy
from holdfast.models.verification.verification_verdicts import StopCondition
from holdfast.planning.scheduler import state_transitions as changes
from holdfast.planning.scheduler.next_actions import decide
from holdfast.planning.scheduler.rerun_scope import retry_scope, tasks_to_resume


def state_with(*statuses: TaskStatus, kind: TaskKind, **strategy: object) -> JobState:
    """Tasks of which each depends on the one before."""
    names = [f"T{n}" for n in range(1, len(statuses) + 1)]
    tasks = [
        TaskState(
            id=name, kind=kind, label=name, depends_on=tuple(names[n - 1 : n]), root=name
        ).with_status(statuses[n])
        for n, name in enumerate(names)
    ]
    return changes.with_tasks(JobState(strategy=Strategy(**strategy), has_plan=True), tasks)


def test_a_job_that_ended_while_its_results_were_verified_goes_on_with_the_verification() -> None:
    state = state_with(TaskStatus.DONE, TaskStatus.DONE, kind=TaskKind.AGENT, verify=True)

    assert tasks_to_resume(state) == ()
    assert decide(state) == (Verify(round=1),)


def test_a_job_without_verification_or_tasks_to_run_is_not_resumed() -> None:
    state = state_with(TaskStatus.DONE, TaskStatus.DONE, kind=TaskKind.TOOL)

    with pytest.raises(BadInput, match="would end again at once: no task can run"):
        tasks_to_resume(state)


def test_a_verified_job_without_tool_calls_left_is_not_resumed() -> None:
    state = state_with(
        TaskStatus.DONE, TaskStatus.CANCELLED, kind=TaskKind.TOOL, verify=True, max_tool_calls=1
    )

    with pytest.raises(BadInput, match="resume it with a higher max_tool_calls"):
        tasks_to_resume(replace(state, tool_calls=1))


def test_a_retried_task_that_waits_for_a_failed_task_is_refused_in_a_verified_job_too() -> None:
    state = state_with(
        TaskStatus.FAILED,
        TaskStatus.DONE,
        kind=TaskKind.AGENT,
        verify=True,
        max_replans_per_task=0,
        on_exhausted="continue",
    )

    with pytest.raises(BadInput, match="retry T1 as well"):
        retry_scope(state, ["T2"])


def test_a_task_is_retried_after_the_verification_of_its_job_has_ended() -> None:
    state = state_with(TaskStatus.DONE, TaskStatus.DONE, kind=TaskKind.AGENT, verify=True)
    verified = replace(state, rounds=VerificationProgress(verified=1, stop=StopCondition.READY))

    assert retry_scope(verified, ["T2"]).rerun == ("T2",)
