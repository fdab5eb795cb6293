"""Define the output of `holdfast verification JOB --json`: rounds and contradictions."""

from holdfast.models.frozen_model import Frozen
from holdfast.models.verification.verification_verdicts import (
    Contradiction,
    StopCondition,
    StopLogEntry,
    Verification,
)


class VerificationRoundView(Frozen):
    """One round: its line of the stop log, and every verdict."""

    check: StopLogEntry
    verdicts: tuple[Verification, ...]


class VerificationView(Frozen):
    """`holdfast verification JOB --json`."""

    job_id: str
    rounds: tuple[VerificationRoundView, ...]
    stopped_by: StopCondition | None
    contradictions: tuple[Contradiction, ...]
    """The contradictions of the last round, each once, with its tie-breaker if settled."""
