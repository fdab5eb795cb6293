"""Say in one way, on every page, what became of a job."""

from typing import NamedTuple, Protocol

from holdfast.jobs.record_in_words import ending_words
from holdfast.models.jobs.job_record import JobStatus, StopReason
from holdfast.reports.evidence_table import LOW_CONFIDENCE


class Outcome(NamedTuple):
    """What became of a job; the colour never stands without the words."""

    words: str
    tone: str


_NO_ANSWER = Outcome(ending_words("", StopReason.NOTHING_FOUND), "plain")


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
        return Outcome(ending_words(status.value, job.stop_reason), "bad")
    if job.open_questions and not status.is_final:
        is_paused = status is JobStatus.PAUSED
        return Outcome("paused, waits for you" if is_paused else "waits for you", "weak")
    tone = {JobStatus.RUNNING: "live", JobStatus.PAUSED: "weak"}.get(status, "plain")
    return Outcome(status.value, tone)


def _ending(job: OutcomeFacts) -> Outcome:
    """The outcome of a job that delivered what it could; only a sure, whole answer is green."""
    if job.stop_reason == StopReason.PLANNED:
        return Outcome(ending_words(job.status, job.stop_reason), "plain")
    if not job.answer:
        return _NO_ANSWER
    if job.confidence is not None and job.confidence < LOW_CONFIDENCE:
        return Outcome(f"unsure, {job.confidence:.0%}", "weak")
    if job.stop_reason == StopReason.ANSWERED_WITH_GAPS:
        return Outcome(ending_words(job.status, job.stop_reason), "weak")
    return Outcome("answered", "good")
