"""Define the requests that a person makes of a running job: resume, retry, steer."""

from enum import StrEnum

from pydantic import Field

from holdfast.models.frozen_model import Frozen
from holdfast.models.strategies.job_strategy import Strategy
from holdfast.models.wire.event_kinds import EventKind


class ControlKind(StrEnum):
    """What a person did to a job."""

    PAUSED = "paused"
    RESUMED = "resumed"
    RETRIED = "retried"
    STEERED = "steered"
    CANCELLING = "cancelling"

    @property
    def event_kind(self) -> EventKind:
        """The kind of the entry that records the control in the job's log."""
        return EventKind(f"job.{self.value}")


class ControlRequest(Frozen):
    """The name of the person who asks; it is recorded with the time."""

    by: str = Field(max_length=200)


class ResumeRequest(ControlRequest):
    """Continue a paused job, with other settings if given."""

    strategy: Strategy | None = None


class RetryRequest(ControlRequest):
    """Run these tasks and their downstream tasks again."""

    tasks: tuple[str, ...] = Field(min_length=1)


class SteerRequest(ControlRequest):
    """Give guidance to the next planning; its text is in PostgreSQL under this number."""

    guidance: int


class RerunScope(Frozen):
    """The effect of a rerun: the tasks that run again, and the tasks that are kept."""

    rerun: tuple[str, ...]
    kept: tuple[str, ...]
