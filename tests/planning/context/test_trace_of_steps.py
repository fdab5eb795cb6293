"""Tests of what an agent is shown of its own steps."""

from datetime import UTC, datetime

import pytest
from pydantic import JsonValue

from holdfast.models.plans.research_plan import Task, TaskInput, TaskKind, TaskStatus
from holdfast.models.tasks.stored_task import StoredTask
from holdfast.planning.context.agent_context import trace_step

ADVICE = "Not there; the section on rounds may have it."


def step(result: dict[str, JsonValue], confidence: float) -> StoredTask:
    task = Task(
        id="T2.1",
        kind=TaskKind.TOOL,
        description="look it up",
        tool="lab.search",
        inputs=(TaskInput(name="query", value="rounds"),),
        parent="T2",
        status=TaskStatus.DONE,
        result=result,
    )
    return StoredTask(
        task=task,
        position=1,
        attempt=1,
        root="T2.1",
        added_by_change=0,
        finished_at=datetime(2026, 11, 27, tzinfo=UTC),
        confidence=confidence,
        summary=ADVICE,
    )


@pytest.mark.parametrize(
    ("result", "confidence", "shown"),
    [
        # A step whose only value was not required is done without it: nothing was found.
        ({}, 1.0, (None, ADVICE)),
        ({"finding": "three rounds"}, 0.6, (0.6, ADVICE)),
        ({"finding": "three rounds"}, 1.0, (1.0, "")),
    ],
)
def test_what_was_read_is_told_where_a_value_is_unsure_or_missing(
    result: dict[str, JsonValue], confidence: float, shown: tuple[float | None, str]
) -> None:
    seen = trace_step(step(result, confidence))

    assert (seen.confidence, seen.summary) == shown
