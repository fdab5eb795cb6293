"""A job: what was asked, how it is to be worked, and where it stands."""

from datetime import datetime
from enum import StrEnum

from pydantic import Field

from models.base import Frozen
from models.strategy import Strategy

EXTRACTIVE = "extractive"
"""The name of the built-in model."""


class JobStatus(StrEnum):
    """Where a job stands; the last three are final until somebody reopens it."""

    QUEUED = "queued"
    RUNNING = "running"
    PAUSED = "paused"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


FINAL = frozenset({JobStatus.DONE, JobStatus.FAILED, JobStatus.CANCELLED})
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
    """The corpus that the job reads; empty for none."""
    servers: tuple[str, ...] = ()
    """The servers whose tools it may use, by their names; empty for all there are."""
    owner: str = ""


class Job(Frozen):
    """A submitted job as PostgreSQL has it."""

    id: str
    request: JobRequest
    status: JobStatus
    epoch: int = 0
    attempt: int = 1
    """Grows when a job that had ended is reopened: what is asked then is asked anew."""
    config_hash: str = ""
    stop_reason: StopReason | None = None
    message: str = ""
    """What happened, in words, when the job did not simply succeed."""
    answer: str | None = None
    depth: int = 0
    breadth: float = 0.0
    created_at: datetime
    started_at: datetime | None = None
    finished_at: datetime | None = None
