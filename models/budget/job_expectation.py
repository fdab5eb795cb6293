"""Define what a job is expected to take before it has a plan."""

from pydantic import Field

from holdfast.models.budget.token_prices import Money
from holdfast.models.frozen_model import Frozen


class UsualUsage(Frozen):
    """The medians of the newest ended jobs of one preset and model."""

    jobs: int = Field(description="how many jobs these are the medians of")
    seconds: float
    model_calls: int
    tool_calls: int
    tokens: int
    cost: Money | None = Field(description="none: a price is unknown")


class JobExpectation(Frozen):
    """What a job is expected to take, and the most that its settings allow."""

    usual: UsualUsage | None = Field(
        description="what such jobs took here; none: no such job has ended yet"
    )
    max_tool_calls: int | None
    max_tokens: int | None
    max_cost: float | None
    currency: str
