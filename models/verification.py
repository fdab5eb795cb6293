"""What the verifier saw of each result, and what the stop conditions saw of each round."""

from enum import StrEnum

from pydantic import Field

from models.base import Frozen


class Completeness(StrEnum):
    """Whether a result answers its sub-question; only the first is never verified again."""

    COMPLETE = "complete"
    PARTIAL = "partial"
    INCOMPLETE = "incomplete"


class Recommendation(StrEnum):
    """What the verifier wants to become of a result."""

    ACCEPT = "accept"
    RETRY = "retry"
    ESCALATE = "escalate"


class Contradiction(Frozen):
    """Two claims that cannot both be true, with the tasks they come from."""

    one: str
    other: str
    tasks: tuple[str, ...] = ()
    settled_by: str = ""
    """The task that looked elsewhere and settled it; empty: both sides are in the report."""


class Verification(Frozen):
    """The verdict on one result in one round (VMAO's verifier output)."""

    task_id: str
    attempt: int = 1
    status: Completeness
    completeness: float = Field(ge=0, le=1)
    confidence: float = Field(ge=0, le=1)
    missing: tuple[str, ...] = ()
    contradictions: tuple[Contradiction, ...] = ()
    recommendation: Recommendation = Recommendation.ACCEPT
    is_carried: bool = False
    """Whether it was complete in an earlier round, and is taken from there."""
    model: str = ""


class StopCondition(StrEnum):
    """Why verifying stops; the first two say it is good enough, the others that it costs enough."""

    READY = "ready_threshold"
    CONFIDENT = "high_confidence"
    DIMINISHING = "diminishing_returns"
    TOKENS = "token_budget"
    ITERATIONS = "max_iterations"
    NOTHING_LEFT = "nothing_left"
    """There is nothing that another round could do. Not one of VMAO's five."""


class ConditionSeen(Frozen):
    """What one condition saw after a round, and whether it fired."""

    condition: StopCondition
    seen: str
    """In words and numbers, such as `2 of 5 complete (40.0%), wanted 80.0%`."""
    fired: bool


class StopCheck(Frozen):
    """A line of the stop ledger: one round."""

    iteration: int
    complete: int
    total: int
    confidence: float
    tokens: int
    conditions: tuple[ConditionSeen, ...]
    fired: StopCondition | None = None
    """The first that fired, in the order of `StopCondition`."""
    is_filled: bool = False
    """Whether the gaps that this round showed have been planned."""
