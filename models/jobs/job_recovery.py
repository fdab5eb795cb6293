"""Define the receipt of a recovery after a worker died or PostgreSQL was unreachable."""

from datetime import datetime
from enum import StrEnum

from holdfast.models.frozen_model import Frozen


class LossCause(StrEnum):
    """The part that was lost."""

    WORKER = "worker"
    DATABASE = "database"


class LostAttempt(Frozen):
    """An attempt that was lost with its worker."""

    cause: LossCause
    lost_worker: str = ""
    """The identity of the worker that died; empty if unknown."""
    at: datetime
    """The last sign of life."""


class ReusedCalls(Frozen):
    """Calls that were answered from the call ledger, and the tokens that they had cost."""

    model: int = 0
    tool: int = 0
    tokens: int = 0


class ResentCalls(Frozen):
    """Calls that were in flight at the crash and were sent again."""

    model: int = 0
    tool: int = 0


class Recovery(Frozen):
    """The crash receipt of one recovery."""

    number: int
    cause: LossCause
    lost_worker: str
    """The identity of the worker that died, if it is known."""
    last_seen_at: datetime
    resumed_at: datetime
    seconds_until_resumed: float
    reused: ReusedCalls
    sent_again: ResentCalls
    seconds_to_end: float | None = None
    """Seconds from the loss to the job's end; None while the job runs."""
