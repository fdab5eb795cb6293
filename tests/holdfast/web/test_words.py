"""Tests that no internal name of a state, a reason or an event reaches the page's readers."""

from datetime import UTC, datetime
from typing import NamedTuple

import pytest

from holdfast.models.jobs.job_record import JobStatus, StopReason
from holdfast.models.jobs.job_state import EndJob
from holdfast.models.views.job_views import EventView
from holdfast.models.wire.event_kinds import EventKind
from holdfast.planning.scheduler.expected_actions import _in_words
from holdfast.web.rendering.outcomes import outcome
from holdfast.web.watch.log_lines import _WORDS, log_line
from tests.support.documentation.internal_names import internal_names, internal_names_in


class Ended(NamedTuple):
    status: str
    stop_reason: str
    answer: str | None = None
    confidence: float | None = None
    open_questions: int = 0


def test_every_kind_of_event_has_words() -> None:
    assert set(_WORDS) == set(EventKind)


@pytest.mark.parametrize("name", sorted(internal_names()))
def test_facts_of_the_log_are_words(name: str) -> None:
    facts = {"end_reason": name, "all_of_them": [name, "T1"]}
    line = log_line(EventView(seq=1, at=datetime.now(UTC), kind="job.ended", task="", facts=facts))

    assert "_" not in line.what + line.facts
    assert internal_names_in(f"because of {name}") == {name}


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


@pytest.mark.parametrize("reason", list(StopReason))
def test_reasons_to_stop_are_words(reason: StopReason) -> None:
    for status in (JobStatus.DONE, JobStatus.FAILED):
        assert "_" not in outcome(Ended(status.value, reason.value)).words
        assert "_" not in _in_words(EndJob(status=status, reason=reason))
