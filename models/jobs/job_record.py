"""Define a job: the submitted request, the status, and the reason why the job ended."""

from datetime import UTC, date, datetime
from enum import StrEnum

from pydantic import Field

from holdfast.models.frozen_model import Frozen
from holdfast.models.jobs.follow_up import (
    EarlierQuestion,
    FollowUp,
    query_in_context,
    question_in_context,
)
from holdfast.models.jobs.job_fork import Fork
from holdfast.models.strategies.job_strategy import Strategy


class JobStatus(StrEnum):
    """The status of a job; the last three are final until the job is reopened."""

    QUEUED = "queued"
    RUNNING = "running"
    PAUSED = "paused"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def is_final(self) -> bool:
        """True once the job has ended: it is done, failed or cancelled; it can be reopened."""
        return self in (JobStatus.DONE, JobStatus.FAILED, JobStatus.CANCELLED)


FINAL_JOB_STATUSES = frozenset(status for status in JobStatus if status.is_final)
"""A job that has ended; it can be reopened."""


class StopReason(StrEnum):
    """Why a job ended."""

    ANSWERED = "answered"
    ANSWERED_WITH_GAPS = "answered_with_gaps"
    PLANNING_FAILED = "planning_failed"
    REPLANS_EXHAUSTED = "replans_exhausted"
    TOOL_CALL_LIMIT = "tool_call_limit"
    RETRY_LIMIT = "retry_limit"
    STEP_LIMIT = "step_limit"
    BUDGET = "budget"
    PLAN_REFUSED = "plan_refused"
    MODEL_REFUSED = "model_refused"
    REPORT_REFUSED = "report_refused"
    NOTHING_CAN_RUN = "nothing_can_run"
    NOTHING_FOUND = "nothing_found"
    ERROR = "error"
    CANCELLED = "cancelled"
    PLANNED = "planned"


class JobRequest(Frozen):
    """What a user submits, checked at the border."""

    question: str = Field(min_length=1)
    preset: str
    model: str
    strategy: Strategy
    collection: str = ""
    """The collection that the job reads; empty for none."""
    servers: tuple[str, ...] = ()
    """The names of the tool servers that the job may use; empty for all."""
    owner: str = ""
    follow_up: FollowUp | None = None
    """The conversation that the question follows; None: the question stands alone."""
    fork: Fork | None = None
    """The job that this job began from; None: the job began from nothing."""

    @property
    def is_frozen(self) -> bool:
        """True if a call that no origin recorded is refused."""
        return self.fork is not None and self.fork.is_frozen

    def origins_of(self, place: str) -> tuple[str, ...]:
        """Return the jobs whose recorded answers count for the calls of a task, nearest first."""
        return self.fork.origins_of(place) if self.fork else ()

    @property
    def followed_job(self) -> str | None:
        """The job that the question follows; None: no job."""
        return (self.follow_up.job or None) if self.follow_up else None

    @property
    def question_in_context(self) -> str:
        """The question as models are asked it: with the questions that it follows."""
        return question_in_context(self.question, self._earlier)

    @property
    def query_in_context(self) -> str:
        """The words of a search for the question: with the last question that it follows."""
        return query_in_context(self.question, self._earlier)

    @property
    def _earlier(self) -> tuple[EarlierQuestion, ...]:
        return self.follow_up.earlier if self.follow_up else ()


class Job(Frozen):
    """A submitted job as stored in PostgreSQL."""

    id: str
    request: JobRequest
    status: JobStatus
    epoch: int = 0
    attempt: int = 1
    """Grows when an ended job is reopened; later calls are not answered from earlier ones."""
    config_hash: str = ""
    stop_reason: StopReason | None = None
    message: str = ""
    """What happened, in words, if the job did not simply succeed."""
    answer: str | None = None
    depth: int = 0
    breadth: float = 0.0
    created_at: datetime
    started_at: datetime | None = None
    finished_at: datetime | None = None

    @property
    def day(self) -> date:
        """The date that the job's prompts name as today's: the day of its submission, in UTC.

        A fork keeps the date of the job that it began from, since another date would make every
        prompt another request.
        """
        kept = self.request.fork and self.request.fork.day
        return date.fromisoformat(kept) if kept else self.created_at.astimezone(UTC).date()
