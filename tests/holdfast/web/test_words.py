"""Tests that no internal name of a state, a reason or an event reaches the page's readers."""

from datetime import UTC, datetime
from typing import Any, NamedTuple

import pytest

from holdfast.models.errors import BadInput
from holdfast.models.jobs.job_record import JobStatus, StopReason
from holdfast.models.jobs.job_state import EndJob
from holdfast.models.views.job_views import EventView
from holdfast.models.wire.event_kinds import EventKind
from holdfast.planning.scheduler.expected_actions import _in_words
from holdfast.web.rendering.amounts import positive_amount, positive_count
from holdfast.web.rendering.outcomes import outcome
from holdfast.web.rendering.words import model_title
from holdfast.web.watch.log_lines import _WORDS, log_line
from tests.support.documentation.internal_names import internal_names, internal_names_in


class Ended(NamedTuple):
    status: str
    stop_reason: str
    answer: str | None = None
    confidence: float | None = None
    open_questions: int = 0


def test_only_the_built_in_model_has_a_capital_where_a_line_begins() -> None:
    assert model_title("qwen3-4b") == "qwen3-4b"
    assert model_title("extractive") == "The built-in model"


def test_every_kind_of_event_has_words() -> None:
    assert set(_WORDS) == set(EventKind)


@pytest.mark.parametrize("name", sorted(internal_names()))
def test_facts_of_the_log_are_words(name: str) -> None:
    facts = {"end_reason": name, "all_of_them": [name, "T1"]}
    line = log_line(EventView(seq=1, at=datetime.now(UTC), kind="job.ended", task="", facts=facts))

    assert "_" not in line.what + line.facts
    assert internal_names_in(f"because of {name}") == {name}


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        ({"status": "failed", "reason": "planning_failed"}, "no plan could be made"),
        ({"status": "cancelled", "reason": "cancelled"}, "cancelled"),
        ({"status": "done", "reason": "answered"}, "with a report"),
        (
            {"status": "failed", "reason": "budget", "message": "no room"},
            "spending limit reached · no room",
        ),
    ],
)
def test_the_end_of_a_job_is_said_once(facts: dict[str, Any], said: str) -> None:
    line = log_line(EventView(seq=1, at=datetime.now(UTC), kind="job.ended", task="", facts=facts))

    assert line.facts == said


def test_facts_of_the_log_are_said_as_a_person_says_them() -> None:
    facts = {
        "attempt": 1,
        "epoch": 3,
        "added": ["T1", "T2"],
        "cause": "planned",
        "confidence": 0.92,
    }
    line = log_line(
        EventView(seq=1, at=datetime.now(UTC), kind="plan.stored", task="", facts=facts)
    )

    assert line.facts == "T1, T2 added · confidence 92%"


@pytest.mark.parametrize(
    ("kind", "facts", "shown"),
    [
        (
            EventKind.TASK_VERIFIED,
            {"status": "incomplete", "attempt": 2, "kept": 1},
            "incomplete · attempt 2 · attempt 1 is kept",
        ),
        (
            EventKind.REPORT_DELIVERED,
            {"kept": 4, "documents": 37},
            "sentences kept: 4 · documents in the collection: 37",
        ),
        (EventKind.JOB_ENDED, {"status": "failed", "reason": "budget"}, "spending limit reached"),
        (EventKind.TASK_DONE, {"status": "done"}, ""),
        (
            EventKind.TASK_FAILED,
            {"failure": "f.read found nothing for these arguments; try others", "class": "tool"},
            "f.read found nothing for these arguments. · the tool failed",
        ),
        (EventKind.TASK_FAILED, {"failure": '{"code": 500}', "class": "tool"}, "the tool failed"),
        (EventKind.JOB_SUBMITTED, {"model": "m", "preset": "kpi-chain"}, "m · Exact values"),
        (EventKind.JOB_SUBMITTED, {"model": "extractive"}, "the built-in model"),
        (EventKind.QUESTION_ASKED, {"kind": "approval"}, "about the plan"),
        (
            EventKind.JOB_FORKED,
            {"job": "job-1", "rerun": ["T1"], "changes": ["preset = loop", "model = extractive"]},
            "from job-1 · run again: T1 · the method Quick, the built-in model",
        ),
        (EventKind.PLAN_CHANGED, {"number": 2, "added": ["T3"]}, "change 2 · T3 added"),
        (
            EventKind.JOB_RETRIED,
            {"tasks": ["T0"], "rerun": ["T0", "T1"]},
            "chosen: T0 · run again: T0, T1",
        ),
    ],
)
def test_a_fact_means_what_its_entry_is_about(
    kind: EventKind, facts: dict[str, Any], shown: str
) -> None:
    line = log_line(EventView(seq=1, at=datetime.now(UTC), kind=kind, task="", facts=facts))

    assert line.facts == shown


@pytest.mark.parametrize(
    ("text", "amount"),
    [("", None), ("0.5", 0.5), (".5", 0.5), ("1,500", 1500), (" 2,000,000.25 ", 2_000_000.25)],
)
def test_amounts_are_read_as_they_are_written(text: str, amount: float | None) -> None:
    assert positive_amount("the limit", text) == amount


@pytest.mark.parametrize("text", ["0,50", "1,5", "1,50,000", "0", "-1", "1e3", "nan", "much"])
def test_an_amount_that_could_mean_another_is_refused(text: str) -> None:
    with pytest.raises(BadInput, match="commas only before groups of three digits"):
        positive_amount("the limit", text)


def test_counts_have_no_fractions() -> None:
    assert positive_count("the number of runs", "1,500") == 1500
    with pytest.raises(BadInput, match=r"the number of runs is '1\.5'; give a whole number"):
        positive_count("the number of runs", "1.5")


@pytest.mark.parametrize("reason", list(StopReason))
def test_reasons_to_stop_are_words(reason: StopReason) -> None:
    for status in (JobStatus.DONE, JobStatus.FAILED):
        assert "_" not in outcome(Ended(status.value, reason.value)).words
        assert "_" not in _in_words(EndJob(status=status, reason=reason))
