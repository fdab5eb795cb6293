"""What was spent: tokens and money, added up over the ledger in several ways."""

from enum import StrEnum

from pydantic import Field

from models.base import Frozen
from models.prices import Money


class Phase(StrEnum):
    """What a model call was for (VMAO-13)."""

    PLANNING = "planning"
    EXECUTION = "execution"
    VERIFICATION = "verification"
    REPLANNING = "replanning"
    SYNTHESIS = "synthesis"


class Tokens(Frozen):
    """Tokens paid for."""

    input: int = 0
    output: int = 0


class Bill(Frozen):
    """The model calls of one role, for one task, by one model."""

    role: str
    task: str = ""
    model: str
    calls: int
    input_tokens: int = 0
    output_tokens: int = 0
    cost: Money | None = None
    """None: a call among them came back, and its price is unknown."""


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


class Breakdown(Frozen):
    """All that was spent; each of the tuples adds up to the total."""

    total: Spend
    by_phase: tuple[Spend, ...] = ()
    by_role: tuple[Spend, ...] = ()
    by_task: tuple[Spend, ...] = ()
    """Of one job alone; the plan, the report and replanning are tasks in this."""
    by_model: tuple[Spend, ...] = ()
