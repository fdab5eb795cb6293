"""Define the stages of a job: what each one spent, and why it was needed."""

from enum import StrEnum

from pydantic import Field

from holdfast.models.budget.token_prices import Money
from holdfast.models.frozen_model import Frozen


class StageName(StrEnum):
    """The stages of a job, in the order in which they begin."""

    LOOP = "loop"
    """The cited loop that the job begins with."""
    PLAN = "plan"
    """The planner."""
    WORK = "work"
    """The tasks of the plan, with replanning and revision."""
    VERIFY = "verify"
    """The verifier, in all rounds."""
    FILL = "fill"
    """The gap planner, and the tasks that it added or had retried."""
    REPORT = "report"
    """The report with the checks of its sentences."""
    COMPARE = "compare"
    """The comparison of the ended job's report with another one, by a model."""

    @property
    def in_words(self) -> str:
        """What the job does in the stage, for people."""
        return _STAGE_WORDS[self]


_STAGE_WORDS = {
    StageName.LOOP: "searching and answering",
    StageName.PLAN: "planning",
    StageName.WORK: "working through the plan",
    StageName.VERIFY: "checking results",
    StageName.FILL: "filling gaps",
    StageName.REPORT: "writing the report",
    StageName.COMPARE: "comparing reports",
}


class ToolBill(Frozen):
    """The tool calls of one attempt at one task; repeated ones, which call nothing, left out."""

    task: str
    attempt: int
    calls: int
    seconds: float = 0.0


class Stage(Frozen):
    """What one stage spent; the stages add up to the job."""

    name: StageName
    why: str
    """Why the stage was needed, as a sentence."""
    model_calls: int = 0
    tool_calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: Money | None = Field(default=None, description="none: a price is unknown")
    seconds: float = 0.0
    """The sum of the times of its calls, also of those side by side. A call that was sent again
    after a failure or a loss is left out: the time between is nobody's work."""
