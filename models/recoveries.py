"""A recovery: work that went on after a worker had died, or PostgreSQL had been away."""

from datetime import datetime
from enum import StrEnum

from models.base import Frozen


class Cause(StrEnum):
    """What had gone."""

    WORKER = "worker"
    DATABASE = "database"


class Loss(Frozen):
    """How an attempt ended that did not end by itself."""

    cause: Cause
    lost: str = ""
    """The identity of the worker that died; empty where nobody knows it."""
    at: datetime
    """The last sign of life."""


class Reused(Frozen):
    """Calls that were answered from the ledger, and the tokens that they had cost."""

    model: int = 0
    tool: int = 0
    tokens: int = 0


class SentAgain(Frozen):
    """Calls that had been in flight, and were sent again."""

    model: int = 0
    tool: int = 0


class Recovery(Frozen):
    """The receipt of one recovery."""

    number: int
    cause: Cause
    lost: str
    """The identity of the worker that died, if it is known."""
    lost_at: datetime
    resumed_at: datetime
    seconds_until_resumed: float
    reused: Reused
    sent_again: SentAgain
    seconds_to_end: float | None = None
    """From the loss to the job's end; none while it runs."""
