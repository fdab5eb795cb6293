"""The rounds of a job's verification as they are shown; the names stay."""

from models.base import Frozen
from models.verification import Contradiction, StopCheck, StopCondition, Verification


class RoundView(Frozen):
    """One round: its line of the stop ledger, and every verdict."""

    check: StopCheck
    verdicts: tuple[Verification, ...]


class VerificationView(Frozen):
    """`holdfast verification JOB --json`."""

    job_id: str
    rounds: tuple[RoundView, ...]
    stopped_by: StopCondition | None
    contradictions: tuple[Contradiction, ...]
    """Those that the last round knows of, once each, with the task that settled it, if one did."""
