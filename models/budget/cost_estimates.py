"""Define the estimate of a plan, and the comparison with the amounts that were used."""

from collections.abc import Mapping
from decimal import Decimal

from pydantic import Field, computed_field

from holdfast.models.budget.spend_breakdown import Tokens
from holdfast.models.budget.token_prices import Money
from holdfast.models.frozen_model import Frozen
from holdfast.models.plans.research_plan import Task


class RoleMedians(Frozen):
    """The medians of a role's earlier calls, and the number of these calls."""

    input_tokens: int
    output_tokens: int
    seen: int
    seconds: float | None = None


class UsageMedians(Frozen):
    """The usual amounts of calls, tokens and time in this installation."""

    roles: Mapping[str, RoleMedians] = Field(default_factory=dict)
    tools: Mapping[str, float] = Field(default_factory=dict)
    """Median seconds of a call, by tool."""
    steps: int | None = None
    """Steps of an agent; None if no agent has run yet."""


class RoleEstimate(Frozen):
    """The estimated amounts of one role; None if the role never ran or has no price."""

    role: str
    calls: int
    input_tokens: int | None = None
    output_tokens: int | None = None
    seen: int = 0
    cost: Money | None = None
    seconds: float | None = None


class PlanEstimate(Frozen):
    """The estimated amounts of a plan if no task is retried or replanned."""

    tool_calls: int
    roles: tuple[RoleEstimate, ...]
    spent: Tokens
    """Tokens spent on planning."""
    spent_cost: Money | None = None
    """Money spent on planning; None if a price is unknown."""
    seconds: float | None = None
    """Seconds from the plan to the report; None if a kind of call was never timed."""

    @computed_field  # type: ignore[prop-decorator]  # as pydantic has it
    @property
    def model_calls(self) -> int:
        return sum(each.calls for each in self.roles)

    @computed_field  # type: ignore[prop-decorator]  # as pydantic has it
    @property
    def tokens(self) -> Tokens | None:
        """Return the sum of all roles; None if one of them is unknown."""
        told = [(each.input_tokens, each.output_tokens) for each in self.roles if each.calls]
        known = [(i, o) for i, o in told if i is not None and o is not None]
        if len(known) < len(told):
            return None
        return Tokens(input=sum(i for i, _ in known), output=sum(o for _, o in known))

    @computed_field  # type: ignore[prop-decorator]  # as pydantic has it
    @property
    def cost(self) -> Money | None:
        """Return the sum of all roles; None if one of them is unknown."""
        known = [each.cost for each in self.roles if each.cost is not None]
        return sum(known, start=Decimal(0)) if len(known) == len(self.roles) else None


class UsageAmounts(Frozen):
    """The amounts of a job without its planning; None where unknown."""

    tool_calls: int
    model_calls: int
    input_tokens: int | None
    output_tokens: int | None
    cost: Money | None
    seconds: float | None


class EstimateComparison(Frozen):
    """The estimate of a job when its plan was made, and the amounts since then."""

    estimated: UsageAmounts
    actual: UsageAmounts


class DryRun(Frozen):
    """The result of a dry run: a plan and its estimate."""

    job_id: str
    status: str
    stop_reason: str | None
    message: str
    tasks: tuple[Task, ...]
    estimate: PlanEstimate
    currency: str
