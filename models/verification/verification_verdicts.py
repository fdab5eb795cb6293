"""Define the verdicts of the verifier, and the entries of the stop log."""

from enum import StrEnum

from pydantic import Field

from holdfast.models.frozen_model import Frozen


class Completeness(StrEnum):
    """How far a result answers its question; a complete result is not verified again."""

    COMPLETE = "complete"
    PARTIAL = "partial"
    INCOMPLETE = "incomplete"


class Recommendation(StrEnum):
    """The verifier's recommendation for a result."""

    ACCEPT = "accept"
    RETRY = "retry"
    ESCALATE = "escalate"


class Contradiction(Frozen):
    """Two claims that cannot both be true, with the tasks they come from."""

    one: str
    other: str
    tasks: tuple[str, ...] = ()
    settled_by: str = ""
    """The tie-breaker that settled the contradiction; empty: the report shows both sides."""


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
    is_carried_over: bool = False
    """True if the verdict was carried over from an earlier round."""
    model: str = ""

    @property
    def reliability(self) -> float:
        """Return how far the result can be relied on: a sure verdict on half a result is half."""
        return min(self.confidence, self.completeness)


class StopCondition(StrEnum):
    """Why verification stops: enough is complete (the first two), or more rounds cost too much."""

    READY = "ready_threshold"
    CONFIDENT = "high_confidence"
    DIMINISHING = "diminishing_returns"
    TOKENS = "token_budget"
    MAX_ROUNDS = "max_rounds"
    NOTHING_LEFT = "nothing_left"
    """Another round would change nothing. Not one of VMAO's five."""

    @property
    def in_words(self) -> str:
        """The reason as a clause, for people."""
        return _STOP_WORDS[self]


_STOP_WORDS = {
    StopCondition.READY: "enough of the sub-questions were complete",
    StopCondition.CONFIDENT: "the results were sure enough",
    StopCondition.DIMINISHING: "another round improved too little",
    StopCondition.TOKENS: "the token budget was spent",
    StopCondition.MAX_ROUNDS: "the rounds were used up",
    StopCondition.NOTHING_LEFT: "there was nothing left to do",
}


class ConditionOutcome(Frozen):
    """The result of one stop condition after a round."""

    condition: StopCondition
    seen: str
    """The values, such as `2 of 5 complete (40.0%), wanted 80.0%`."""
    fired: bool


class StopLogEntry(Frozen):
    """A line of the stop log: one round."""

    round: int
    complete: int
    total: int
    confidence: float
    tokens: int
    conditions: tuple[ConditionOutcome, ...]
    fired: StopCondition | None = None
    """The first condition that fired, in the order of `StopCondition`."""
    is_filled: bool = False
    """True if the tasks for this round's gaps have been planned."""
