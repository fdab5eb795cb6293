"""What a job is doing, what blocks it, what happens next and when: one document (WAVE-02)."""

from datetime import datetime

from pydantic import Field, computed_field

from models.base import Frozen


class Doing(Frozen):
    """Something under way in Temporal: a task, a planning, the report."""

    what: str
    """The activity's id: a task's id, `plan`, `replan-T2`, `report`."""
    state: str
    """`running`, `waiting` for its next try, or `scheduled` and taken by nobody yet."""
    attempt: int
    since: datetime | None = None
    worker: str = ""
    last_sign_of_life: datetime | None = None
    last_failure: str = ""
    next_try_at: datetime | None = None
    gives_up_at: datetime | None = None


class Waiting(Frozen):
    """A task that has not begun, and what it waits for."""

    task: str
    what: str
    waits_for: tuple[str, ...] = ()
    """Unfinished tasks; none where only a slot is missing."""


class Waits(Frozen):
    """A question that waits for somebody."""

    id: int
    kind: str
    task: str = ""
    text: str
    choices: tuple[str, ...] = ()
    default: str | None = None
    deadline: datetime | None = Field(default=None, description="none: it waits for an answer")
    answer_with: str
    """The command."""


class Allowance(Frozen):
    """How much of a limit is used."""

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
    doing: tuple[Doing, ...] = ()
    waiting: tuple[Waiting, ...] = ()
    blocked_by: tuple[str, ...] = ()
    """What keeps the whole job from going on, with the way out; empty when nothing does."""
    questions: tuple[Waits, ...] = ()
    """What somebody is asked, the oldest first."""
    warnings: tuple[str, ...] = ()
    """What became of the delivered report's evidence since."""
    next: tuple[str, ...] = ()
    """What is started as soon as it can be."""
    allowances: tuple[Allowance, ...] = ()
    at: datetime
