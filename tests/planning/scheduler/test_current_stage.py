"""Tests for the stage that the Temporal UI names (MOD-06)."""

from typing import Any

import pytest

from holdfast.models.jobs.job_state import JobState, TaskState, VerificationProgress
from holdfast.models.plans.research_plan import TaskKind, TaskStatus
from holdfast.planning.scheduler.current_stage import current_stage
from holdfast.planning.strategies.strategy_presets import preset

pytestmark = pytest.mark.conformance("MOD-06")


def opening(status: TaskStatus, *, is_answered: bool = False) -> dict[str, Any]:
    loop = TaskState(
        id="T0",
        kind=TaskKind.AGENT,
        label="?",
        root="T0",
        status=status,
        is_opening=True,
        is_answered=is_answered,
    )
    return {"tasks": {"T0": loop}}


def rounds(verified: int, filled: int) -> dict[str, Any]:
    return {"has_plan": True, "rounds": VerificationProgress(verified=verified, filled=filled)}


@pytest.mark.parametrize(
    ("preset_name", "known", "stage"),
    [
        ("research", {}, "loop"),
        ("research", opening(TaskStatus.RUNNING), "loop"),
        ("research", opening(TaskStatus.DONE, is_answered=True), "loop"),
        ("research", opening(TaskStatus.DONE), "plan"),
        ("research", {"has_plan": True}, "work"),
        ("research", rounds(0, 0) | {"is_verifying": True}, "verify"),
        ("research", rounds(1, 0) | {"is_verifying": True}, "fill"),
        ("research", rounds(1, 1), "fill"),
        ("research", rounds(1, 1) | {"is_verifying": True}, "verify"),
        ("research", rounds(1, 1) | {"is_reporting": True}, "report"),
        ("kpi-chain", {"is_planning": True}, "plan"),
        ("loop", {"has_plan": True}, "loop"),
    ],
)
def test_the_stage_follows_from_the_state(
    preset_name: str, known: dict[str, Any], stage: str
) -> None:
    state = JobState(strategy=preset(preset_name).strategy, **known)

    assert current_stage(state).value == stage
