"""Define spent tokens and money, grouped by phase, role, task and model."""

from enum import StrEnum

from pydantic import Field

from holdfast.models.budget.token_prices import Money
from holdfast.models.frozen_model import Frozen


class Phase(StrEnum):
    """The purpose of a model call (VMAO-13)."""

    PLANNING = "planning"
    EXECUTION = "execution"
    VERIFICATION = "verification"
    REPLANNING = "replanning"
    SYNTHESIS = "synthesis"
    COMPARISON = "comparison"
    """After the job's end: `holdfast compare --model`."""


class Tokens(Frozen):
    """Tokens paid for."""

    input: int = 0
    output: int = 0


class Bill(Frozen):
    """The model calls of one role, for one attempt at one task, by one model."""

    role: str
    task: str = ""
    attempt: int = 1
    model: str
    calls: int
    input_tokens: int = 0
    output_tokens: int = 0
    cost: Money | None = None
    """None if a call has an unknown price."""
    seconds: float = 0.0
    """The sum of the times of the calls that were sent once."""


class Spend(Frozen):
    """Calls, tokens and money of one phase, role, task or model."""

    name: str
    calls: int
    input_tokens: int = 0
    output_tokens: int = 0
    cost: Money | None = Field(default=None, description="none: a price is unknown")

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens


class SpendBreakdown(Frozen):
    """Everything that was spent; each of the tuples adds up to the total."""

    total: Spend
    by_phase: tuple[Spend, ...] = ()
    by_role: tuple[Spend, ...] = ()
    by_task: tuple[Spend, ...] = ()
    """Only for a single job; the plan, the report and replanning count as tasks here."""
    by_model: tuple[Spend, ...] = ()
