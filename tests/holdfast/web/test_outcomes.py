"""Tests for the outcome of a job: one for each state, and green only for a sure, whole answer."""

from datetime import UTC, datetime

import pytest

from holdfast.models.jobs.job_record import JobStatus, StopReason
from holdfast.models.views.job_views import JobLine
from holdfast.web.rendering.outcomes import outcome


def line(**fields: object) -> JobLine:
    usual = {
        "job_id": "job-1",
        "question": "Who built the pier?",
        "preset": "loop",
        "model": "scripted",
        "stop_reason": None,
        "answer": None,
        "created_at": datetime.now(UTC),
        "seconds": 1.0,
    }
    return JobLine.model_validate(usual | fields)


@pytest.mark.parametrize(
    ("fields", "words", "tone"),
    [
        ({"status": "queued"}, "queued", "plain"),
        ({"status": "running"}, "running", "live"),
        ({"status": "running", "open_questions": 1}, "waits for you", "weak"),
        ({"status": "paused"}, "paused", "weak"),
        ({"status": "paused", "open_questions": 1}, "paused, waits for you", "weak"),
        ({"status": "cancelled", "stop_reason": "cancelled"}, "cancelled", "plain"),
        ({"status": "done", "stop_reason": "planned"}, "planned, not run", "plain"),
        ({"status": "done", "stop_reason": "answered_with_gaps"}, "no answer found", "plain"),
        ({"status": "failed", "stop_reason": "nothing_found"}, "no answer found", "plain"),
        ({"status": "failed", "stop_reason": "budget"}, "spending limit reached", "bad"),
        (
            {"status": "done", "stop_reason": "answered", "answer": "Ash", "confidence": 0.69},
            "unsure, 69%",
            "weak",
        ),
        (
            {"status": "done", "stop_reason": "answered", "answer": "Ash", "confidence": 0.7},
            "answered",
            "good",
        ),
        (
            {"status": "done", "stop_reason": "answered_with_gaps", "answer": "Ash"},
            "answered, with gaps",
            "weak",
        ),
    ],
)
def test_each_state_has_one_outcome(fields: dict[str, object], words: str, tone: str) -> None:
    assert outcome(line(**fields)) == (words, tone)


@pytest.mark.parametrize("reason", StopReason)
def test_only_an_answer_that_was_asked_for_is_green(reason: StopReason) -> None:
    for status in JobStatus:
        found = outcome(line(status=status.value, stop_reason=reason.value, answer="Ash"))
        is_answered = status is JobStatus.DONE and reason not in (
            StopReason.ANSWERED_WITH_GAPS,
            StopReason.NOTHING_FOUND,
            StopReason.PLANNED,
        )

        assert (found.tone == "good") is is_answered
        assert "_" not in found.words
