"""Say in one way, on every page, what became of a job."""

from collections.abc import Mapping
from typing import NamedTuple, Protocol

from holdfast.models.jobs.job_record import JobStatus, StopReason
from holdfast.reports.evidence_table import LOW_CONFIDENCE

_FAILURES: Mapping[str, str] = {
    StopReason.PLANNING_FAILED: "no plan could be made",
    StopReason.REPLANS_EXHAUSTED: "no new plan helped",
    StopReason.TOOL_CALL_LIMIT: "limit of searches reached",
    StopReason.RETRY_LIMIT: "too many attempts failed",
    StopReason.STEP_LIMIT: "limit of steps reached",
    StopReason.BUDGET: "spending limit reached",
    StopReason.PLAN_REFUSED: "the plan was refused",
    StopReason.MODEL_REFUSED: "the model refused",
    StopReason.REPORT_REFUSED: "the report failed its checks",
    StopReason.NOTHING_CAN_RUN: "nothing was left to do",
    StopReason.ERROR: "an error ended it",
}


_ENDINGS: Mapping[str, str] = {
    StopReason.ANSWERED: "answered",
    StopReason.ANSWERED_WITH_GAPS: "answered, with gaps",
    StopReason.NOTHING_FOUND: "no answer found",
    StopReason.PLANNED: "planned, not run",
}


class Outcome(NamedTuple):
    """What became of a job; the colour never stands without the words."""

    words: str
    tone: str


_NO_ANSWER = Outcome("no answer found", "plain")


class OutcomeFacts(Protocol):
    """What an outcome is made of: the fields of a job's view, and of its line in a list."""

    @property
    def status(self) -> str: ...
    @property
    def stop_reason(self) -> str | None: ...
    @property
    def answer(self) -> str | None: ...
    @property
    def confidence(self) -> float | None: ...
    @property
    def open_questions(self) -> int: ...


def outcome(job: OutcomeFacts) -> Outcome:
    """The outcome of a job that has ended, else its state."""
    status = JobStatus(job.status)
    if job.stop_reason == StopReason.NOTHING_FOUND and status.is_final:
        return _NO_ANSWER
    if status is JobStatus.DONE:
        return _ending(job)
    if status is JobStatus.FAILED:
        return Outcome(_FAILURES.get(job.stop_reason or "", "failed"), "bad")
    if job.open_questions and not status.is_final:
        is_paused = status is JobStatus.PAUSED
        return Outcome("paused, waits for you" if is_paused else "waits for you", "weak")
    tone = {JobStatus.RUNNING: "live", JobStatus.PAUSED: "weak"}.get(status, "plain")
    return Outcome(status.value, tone)


def ending_words(status: str, reason: str) -> str:
    """How a job ends whose answer is not known yet."""
    return _ENDINGS.get(reason) or _FAILURES.get(reason) or status


def _ending(job: OutcomeFacts) -> Outcome:
    """The outcome of a job that delivered what it could; only a sure, whole answer is green."""
    if job.stop_reason == StopReason.PLANNED:
        return Outcome("planned, not run", "plain")
    if not job.answer:
        return _NO_ANSWER
    if job.confidence is not None and job.confidence < LOW_CONFIDENCE:
        return Outcome(f"unsure, {job.confidence:.0%}", "weak")
    if job.stop_reason == StopReason.ANSWERED_WITH_GAPS:
        return Outcome("answered, with gaps", "weak")
    return Outcome("answered", "good")
