"""What is known of a job's results besides their evidence, when its report is written."""

from models.base import Frozen
from models.verification import Completeness, StopCondition, Verification


class VerificationSummary(Frozen):
    """The last verdict on each result, and how the rounds of verification ended."""

    iterations: int = 0
    complete: int = 0
    total: int = 0
    confidence: float | None = None
    """The mean of the last round, 0 to 1."""
    stop: StopCondition | None = None
    verdicts: tuple[Verification, ...] = ()

    @property
    def by_task(self) -> dict[str, Verification]:
        return {each.task_id: each for each in self.verdicts}

    @property
    def incomplete(self) -> tuple[Verification, ...]:
        """The verdicts on results that do not wholly answer their sub-question."""
        return tuple(each for each in self.verdicts if each.status is not Completeness.COMPLETE)
