"""Tests for what commands print: narrow terminals, shortened lines, plan changes and progress."""

import io
from datetime import UTC, datetime
from typing import Any

import pytest
from rich.console import Console

from holdfast.cli.render.call_table import call_table
from holdfast.cli.render.event_lines import progress_line
from holdfast.cli.render.job_table import job_table
from holdfast.cli.render.plain_table import PlainTable, plain_table
from holdfast.cli.render.plan_lines import plan_change_lines
from holdfast.cli.render.terminal_output import count_with_noun, shortened_line
from holdfast.jobs.record_in_words import ending_words, state_with_ending
from holdfast.models.calls.call_records import CallView
from holdfast.models.jobs.job_record import JobStatus, StopReason
from holdfast.models.plans.research_plan import Plan
from holdfast.models.plans.stored_plan_change import StoredPlanChange
from holdfast.models.views.job_views import EventView, JobLine, JobView, TaskView
from tests.support.jobs.plan_builders import lookup_task

NOW = datetime(2026, 11, 22, tzinfo=UTC)
COLUMNS = ("task", "status", "what", "found", "conf.", "seconds", "tokens")
ROWS = [
    ("T1", "superseded", "Find mitigations of the supply risk", "budget = 175 Wh", "0.90", 1, 2),
    ("T2", "done", "Summarise", "", "", "", ""),
]


def drawn(table: PlainTable, width: int) -> str:
    output = io.StringIO()
    Console(file=output, width=width).print(table)
    return output.getvalue()


@pytest.mark.parametrize("width", [40, 60, 80, 100, 240])
def test_a_table_never_breaks_a_word(width: int) -> None:
    text = drawn(plain_table(COLUMNS, ROWS), width)

    words = {word for row in ROWS for cell in row for word in str(cell).split()}
    assert words <= set(text.split())
    assert max(len(line.rstrip()) for line in text.splitlines()) <= width


def test_a_wide_terminal_shows_each_row_on_a_line() -> None:
    lines = drawn(plain_table(COLUMNS, ROWS), 240).splitlines()

    assert len(lines) == 3
    assert lines[0].split() == list(COLUMNS)


def test_a_table_without_rows_shows_its_columns() -> None:
    assert drawn(plain_table(COLUMNS, []), 240).split() == list(COLUMNS)


def test_a_line_is_cut_at_the_end_of_a_word() -> None:
    assert shortened_line("a-single-very-long-word", 10) == "a-single-…"
    assert shortened_line("one two three four", 15) == "one two three…"
    assert shortened_line("one two", 7) == "one two"


@pytest.mark.parametrize(("number", "text"), [(0, "0 calls"), (1, "1 call"), (2, "2 calls")])
def test_a_count_has_its_noun_in_singular_or_plural(number: int, text: str) -> None:
    assert count_with_noun(number, "call") == text


def test_a_count_has_the_plural_of_its_noun() -> None:
    assert [count_with_noun(number, "history", "histories") for number in (1, 2)] == [
        "1 history",
        "2 histories",
    ]


def test_a_plan_change_shows_what_is_different_in_a_replaced_task() -> None:
    plan = Plan(tasks=(lookup_task("T1", query="river"), lookup_task("T1a", query="bridge")))
    change = StoredPlanChange(
        number=2, cause="replanned", failed_task="T1", added=("T1a",), superseded=("T1",)
    )

    lines = list(plan_change_lines(plan, {"T1": "T1", "T1a": "T1"}, [change]))

    assert lines[0] == "plan change 2: replanned from T1 (depth 0, breadth 0)"
    assert "      query: river -> bridge" in lines


def test_a_pause_is_shown_whole_with_what_resuming_does() -> None:
    message = "the endpoint's credit is used up: " + "name another model " * 20
    event = EventView(seq=1, at=NOW, kind="job.paused", task="", facts={"message": message})

    line = progress_line(event, JobView.model_construct(job_id="job-1", tasks=()))  # type: ignore[call-arg]

    assert line == f"  paused   {message}; `holdfast resume job-1` tries the same again"


def test_progress_shows_an_account_without_the_engines_name_for_it() -> None:
    fields: list[dict[str, Any]] = [
        {"id": "T0", "description": "", "entities": {"proven_sentences": "Born."}},
        {"id": "T1", "description": "", "entities": {"year": 1874}},
    ]
    tasks = [TaskView.model_construct(**each) for each in fields]
    view = JobView.model_construct(job_id="job-1", tasks=tuple(tasks))  # type: ignore[call-arg]

    shown = [
        progress_line(EventView(seq=1, at=NOW, kind="task.done", task=each.id, facts={}), view)
        for each in tasks
    ]

    assert shown == ["  T0    done     Born.", "  T1    done     year = 1874"]


def test_progress_repeats_no_missing_part_of_the_installation() -> None:
    view = JobView.model_construct(job_id="job-1", tasks=())  # type: ignore[call-arg]
    fault = {"fault": "server 'lab' is not there"}
    missing = {"fault": "drawing charts needs the part 'charts'", "missing_server": "charts"}

    shown = [
        progress_line(EventView(seq=1, at=NOW, kind="tool.left_out", task="", facts=facts), view)
        for facts in (fault, missing)
    ]

    assert shown == ["  server 'lab' is not there", None]


def test_calls_have_the_numbers_by_which_trace_names_them() -> None:
    call = CallView(
        id=13,
        kind="tool",
        role="",
        task="T2.1",
        name="corpus.search",
        request_hash="f" * 64,
        status="done",
        started_at=NOW,
        finished_at=NOW,
        tokens={"input": 0, "output": 0},
        reused=0,
        sends=1,
    )

    header, row = drawn(call_table([call]), 240).splitlines()

    assert header.split()[:2] == ["call", "kind"]
    assert row.split()[:3] == ["13", "tool", "T2.1"]


def test_a_plan_change_without_tasks_says_its_cause() -> None:
    view = JobView.model_construct(job_id="job-1", tasks=())  # type: ignore[call-arg]
    facts: dict[str, Any] = {"number": 2, "cause": "revised", "added": [], "superseded": []}

    line = progress_line(EventView(seq=1, at=NOW, kind="plan.changed", task="", facts=facts), view)

    assert line == "  plan  changed  revised, and no task was changed"


@pytest.mark.parametrize("reason", StopReason)
def test_each_ending_has_words(reason: StopReason) -> None:
    words = ending_words(JobStatus.FAILED, reason)

    assert "_" not in words
    assert (words == JobStatus.FAILED) == (reason is StopReason.CANCELLED)


def test_a_state_that_says_all_stands_alone() -> None:
    assert state_with_ending("failed", "replans_exhausted") == "failed (no new plan helped)"
    assert state_with_ending("cancelled", "cancelled") == "cancelled"
    assert state_with_ending("running", None) == "running"


def test_a_list_does_not_show_an_ending_as_an_answer() -> None:
    failed = JobLine(
        job_id="job-1",
        question="What did the light cost?",
        preset="research",
        model="extractive",
        status="failed",
        stop_reason="replans_exhausted",
        answer=None,
        created_at=NOW,
        seconds=3.0,
    )
    answered = failed.model_copy(update={"stop_reason": "answered", "answer": "38,600 crowns"})
    running = failed.model_copy(update={"stop_reason": None, "status": "running"})

    lines = drawn(job_table([failed, answered, running]), 240).splitlines()

    assert [line.partition("cost?")[2].strip() for line in lines[1:]] == [
        "(no new plan helped)",
        "38,600 crowns",
        "",
    ]
