"""Tests of what a page shows unasked: a task in the panel, and how most findings are supported."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from holdfast.models.evidence.evidence import EvidenceLevel, ReportStatement
from holdfast.models.plans.research_plan import TaskStatus
from holdfast.models.tasks.stored_task import StoredTask
from holdfast.reports.usual_level import usual_level
from holdfast.web.watch.job_page import first_shown_task
from tests.support.jobs.plan_builders import lookup_task

_BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
# What a test leaves out, the choice does not need.
_STORED: Any = StoredTask
_STATEMENT: Any = ReportStatement


def _stored(name: str, status: TaskStatus, ended: int | None = None) -> StoredTask:
    task = lookup_task(name).model_copy(update={"status": status})
    finished = None if ended is None else _BEGIN + timedelta(seconds=ended)
    has_begun = status is not TaskStatus.PENDING
    stored: StoredTask = _STORED.model_construct(
        task=task, started_at=_BEGIN if has_begun else None, finished_at=finished
    )
    return stored


@pytest.mark.parametrize(
    ("states", "shown"),
    [
        ((("T1", "done", 9), ("T2", "failed", 5), ("T3", "running", None)), "T3"),
        ((("T1", "done", 9), ("T2", "failed", 5), ("T3", "pending", None)), "T2"),
        ((("T1", "done", 9), ("T2", "done", 5), ("T3", "superseded", 11)), "T1"),
        ((("T1", "pending", None),), ""),
        ((), ""),
    ],
)
def test_the_panel_shows_the_task_that_runs_else_failed_else_ended_last(
    states: tuple[tuple[str, str, int | None], ...], shown: str
) -> None:
    tasks = [_stored(name, TaskStatus(status), ended) for name, status, ended in states]

    assert first_shown_task(tasks) == shown


@pytest.mark.parametrize(
    ("levels", "line"),
    [
        ("ss", "Each finding has a single source."),
        ("ssc", "Each finding has a single source, unless it says otherwise."),
        ("ssn", ""),
        ("sc", ""),
        ("s", ""),
        ("", ""),
    ],
)
def test_how_most_findings_are_supported_is_said_once(levels: str, line: str) -> None:
    named = {"s": EvidenceLevel.SINGLE_SOURCE, "c": EvidenceLevel.CORROBORATED}
    named["n"] = EvidenceLevel.NONE
    findings = [_STATEMENT.model_construct(level=named[each]) for each in levels]

    usual = usual_level(findings)

    assert usual.line == line
    assert bool(usual.level) == bool(line)
