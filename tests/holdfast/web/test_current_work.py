"""Tests that the top of a job's page names what comes next, and when."""

from datetime import UTC, datetime
from typing import Any

import pytest

from holdfast.models.budget.job_stages import Stage, StageName
from holdfast.models.views.job_views import JobView, TaskView
from holdfast.models.views.status_views import OpenCall, StatusDocument
from holdfast.models.wire import stored_keys
from holdfast.web.watch.current_work import _activity_words, _details, _doing, _next, _phase

# What a test leaves out, the words do not need.
_VIEW: Any = JobView
_TASK: Any = TaskView
_STATUS: Any = StatusDocument


def task(name: str, *needs: str, status: str = "pending") -> Any:
    return _TASK.model_construct(
        id=name, description=f"Find part {name}", depends_on=needs, status=status
    )


@pytest.mark.parametrize(
    ("predicted", "shown"),
    [
        (("after T1, T2: start T3",), ["T3: Find part T3", "when T1 is done"]),
        (("start T4",), ["T4: Find part T4"]),
        (("once resumed: start T4", "start T3"), ["T4: Find part T4", "T3: Find part T3"]),
        (("after T1, T2: write the report",), ["Write the report", "when T1 and T2 are done"]),
        (("after T1, T2, T4, T5: plan the research",), ["Plan the research", "when 4 more tasks are done"]),
        (("end: done (answered)",), ["The job ends: answered"]),
        (("end: failed (report refused)",), ["The job ends: the report failed its checks"]),
        (("end: cancelled (cancelled)",), ["The job ends: cancelled"]),
        (("start T9 (unknown)",), ["Start T9 (unknown)"]),
        ((), []),
    ],
)  # fmt: skip
def test_what_comes_next_is_named_with_what_it_waits_for(
    predicted: tuple[str, ...], shown: list[str]
) -> None:
    tasks = (
        task("T1", status="running"),
        task("T2", status="running"),
        task("T3", "T0", "T1"),
        task("T4", "T0"),
        task("T0", status="done"),
    )
    view = _VIEW.model_construct(tasks=tasks)

    assert _next(view, _STATUS.model_construct(next=predicted)) == shown


def test_every_stage_but_a_comparison_after_the_end_is_a_phase() -> None:
    for name in StageName:
        stages = [Stage(name=each, why="") for each in (StageName.REPORT, name)]
        status = _STATUS.model_construct(status="running", stages=stages, questions=())
        shown = StageName.REPORT if name is StageName.COMPARE else name
        assert _phase(_VIEW.model_construct(), status) == shown.in_words


@pytest.mark.parametrize(
    ("tasks", "words"),
    [
        ((task("T1", status="done"), task("T2", status="running")), "T2: Find part T2"),
        ((task("T1", status="done"), task("T2")), "Deciding what comes next"),
    ],
)
def test_a_job_without_open_work_says_which_task_it_decides_about(tasks: Any, words: str) -> None:
    status = _STATUS.model_construct(doing=(), questions=())

    assert _doing(_VIEW.model_construct(status="running", tasks=tasks), status, {}) == words


@pytest.mark.parametrize(
    ("until", "words"),
    [(None, []), (datetime.now(UTC), ["the built-in model has to wait: its limit"])],
)
def test_a_call_without_a_recorded_end_is_not_at_work_in_a_job_that_does_nothing(
    until: datetime | None, words: list[str]
) -> None:
    call = OpenCall(task="T1", role="reasoner", model="extractive", why="its limit", until=until)
    status = _STATUS.model_construct(doing=(), status="running", model_calls=(call,))

    assert _details(status, {}) == words


def test_work_on_the_jobs_own_records_has_words() -> None:
    for activity, words in (
        (stored_keys.BEGIN_ACTIVITY, "Beginning"),
        (stored_keys.page_activity(161), "Keeping its records"),
        (stored_keys.replan_activity("T1"), "Replacing a failed task"),
        (stored_keys.verification_activity(2), "Checking the results"),
        (stored_keys.gap_filling_activity(1), "Planning for what is missing"),
    ):
        assert _activity_words(activity) == words
