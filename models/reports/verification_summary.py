"""Define the summary of a job's verification that the report writer reads."""

from holdfast.models.frozen_model import Frozen
from holdfast.models.verification.verification_verdicts import (
    Completeness,
    StopCondition,
    Verification,
)


class VerificationSummary(Frozen):
    """The last verdict on each result, and how verification ended."""

    rounds: int = 0
    complete: int = 0
    total: int = 0
    confidence: float | None = None
    """The mean reliability of the results in the last round, 0 to 1."""
    stop: StopCondition | None = None
    verdicts: tuple[Verification, ...] = ()

    @property
    def by_task(self) -> dict[str, Verification]:
        return {each.task_id: each for each in self.verdicts}

    @property
    def incomplete(self) -> tuple[Verification, ...]:
        """Return the verdicts on incomplete results."""
        return tuple(each for each in self.verdicts if each.status is not Completeness.COMPLETE)
