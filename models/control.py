"""What a person asks of a running job: the arguments of the workflow's updates. No content."""

from enum import StrEnum

from pydantic import Field

from models.base import Frozen
from models.strategy import Strategy


class Control(StrEnum):
    """What was done to a job from outside; `job.<name>` is the entry in its log."""

    PAUSED = "paused"
    RESUMED = "resumed"
    RETRIED = "retried"
    STEERED = "steered"
    CANCELLING = "cancelling"


class Asking(Frozen):
    """Who asks; it is recorded with the time."""

    by: str = Field(max_length=200)


class ResumeRequest(Asking):
    """Go on, with other settings where they are given."""

    strategy: Strategy | None = None


class RetryRequest(Asking):
    """Run these tasks again, and what rests on them."""

    tasks: tuple[str, ...] = Field(min_length=1)


class SteerRequest(Asking):
    """Tell the next planning something; the words are in PostgreSQL, under this number."""

    guidance: int


class Rerun(Frozen):
    """What running some tasks again means: these run again, those are kept as they are."""

    again: tuple[str, ...]
    kept: tuple[str, ...]
