"""Define the output of `holdfast status JOB --json`: work, questions and limits."""

from datetime import datetime

from pydantic import Field, computed_field

from holdfast.models.budget.job_stages import Stage
from holdfast.models.frozen_model import Frozen


class PendingActivity(Frozen):
    """A running activity in Temporal: a task, a planning, the report."""

    what: str
    """The activity id: a task's id, `plan`, `replan-T2`, `report`."""
    state: str
    """`running`, `waiting` for the next try, or `scheduled` without a worker yet."""
    attempt: int
    since: datetime | None = None
    worker: str = ""
    last_sign_of_life: datetime | None = None
    last_failure: str = ""
    next_try_at: datetime | None = None

    @property
    def waits_for_next_try(self) -> bool:
        """True if the last try failed, and the next one has not begun."""
        return self.state == "waiting" and bool(self.last_failure)


class WaitingTask(Frozen):
    """A task that has not begun, and its unfinished dependencies."""

    task: str
    what: str
    waits_for: tuple[str, ...] = ()
    """Unfinished tasks; empty if only a slot is missing."""


class OpenCall(Frozen):
    """A model call without an answer: it was sent, or it waits for the model."""

    task: str
    """Empty for calls of the whole job, such as planning."""
    role: str
    model: str
    why: str = ""
    """What the call waits for; empty if it was sent."""
    until: datetime | None = Field(default=None, description="none: the call was sent")
    received_chars: int = 0
    """Characters of the reply that have come, as of a few seconds ago; 0 if not streamed."""


class WaitingQuestion(Frozen):
    """An open question to a person."""

    id: int
    kind: str
    task: str = ""
    text: str
    choices: tuple[str, ...] = ()
    default: str | None = None
    deadline: datetime | None = Field(default=None, description="none: it waits for an answer")
    answer_with: str
    """The command that answers the question; in an answer of the API, the request."""


class LimitUsage(Frozen):
    """The used part of a limit."""

    what: str
    used: int | float | None = Field(description="none: nobody knows, for want of a price")
    limit: int | float | None = Field(default=None, description="none: there is no limit")

    @computed_field  # type: ignore[prop-decorator]  # pydantic's own pattern
    @property
    def left(self) -> int | float | None:
        if self.limit is None or self.used is None:
            return None
        return max(0, round(self.limit - self.used, 9))


class StatusDocument(Frozen):
    """`holdfast status JOB --json`."""

    job_id: str
    status: str
    message: str = ""
    doing: tuple[PendingActivity, ...] = ()
    waiting: tuple[WaitingTask, ...] = ()
    model_calls: tuple[OpenCall, ...] = ()
    """The model calls that were sent and have no answer yet, and those that wait for limits of a
    model, or for a pause that its endpoint asked for.
    """
    blocked_by: tuple[str, ...] = ()
    """What blocks the whole job, with the way out; empty if nothing does."""
    questions: tuple[WaitingQuestion, ...] = ()
    """The open questions, the oldest first."""
    warnings: tuple[str, ...] = ()
    """Changes of the delivered report's evidence since then."""
    next: tuple[str, ...] = ()
    """The actions that start next."""
    allowances: tuple[LimitUsage, ...] = ()
    stages: tuple[Stage, ...] = ()
    """The stages that have begun, with what they spent and why they were needed."""
    currency: str
    """The currency of the stages' costs."""
    at: datetime
