"""What a plan would take: calls, and tokens, money and time where earlier calls tell."""

from collections.abc import Mapping
from decimal import Decimal

from pydantic import Field, computed_field

from models.base import Frozen
from models.plan import Task
from models.prices import Money
from models.spending import Tokens


class TypicalCall(Frozen):
    """The medians of a role's earlier calls, and how many those are."""

    input_tokens: int
    output_tokens: int
    seen: int
    seconds: float | None = None


class Typical(Frozen):
    """What work usually takes in this installation."""

    roles: Mapping[str, TypicalCall] = Field(default_factory=dict)
    tools: Mapping[str, float] = Field(default_factory=dict)
    """Seconds of a call, by tool."""
    steps: int | None = None
    """Of an agent; None where none has worked yet."""


class RoleEstimate(Frozen):
    """What one role would take in all; None where it was never seen, or has no price."""

    role: str
    calls: int
    input_tokens: int | None = None
    output_tokens: int | None = None
    seen: int = 0
    cost: Money | None = None
    seconds: float | None = None


class Estimate(Frozen):
    """What working a plan would take if all went well at once."""

    tool_calls: int
    roles: tuple[RoleEstimate, ...]
    spent: Tokens
    """What planning has cost."""
    spent_cost: Money | None = None
    """The same in money; None where the price is unknown."""
    seconds: float | None = None
    """From the plan to the report; None where a call of some kind was never timed."""

    @computed_field  # type: ignore[prop-decorator]  # as pydantic has it
    @property
    def model_calls(self) -> int:
        return sum(each.calls for each in self.roles)

    @computed_field  # type: ignore[prop-decorator]  # as pydantic has it
    @property
    def tokens(self) -> Tokens | None:
        """All roles together; None where one of them is unknown."""
        told = [(each.input_tokens, each.output_tokens) for each in self.roles if each.calls]
        known = [(i, o) for i, o in told if i is not None and o is not None]
        if len(known) < len(told):
            return None
        return Tokens(input=sum(i for i, _ in known), output=sum(o for _, o in known))

    @computed_field  # type: ignore[prop-decorator]  # as pydantic has it
    @property
    def cost(self) -> Money | None:
        """All roles together; None where one of them is unknown."""
        known = [each.cost for each in self.roles if each.cost is not None]
        return sum(known, start=Decimal(0)) if len(known) == len(self.roles) else None


class Amounts(Frozen):
    """What a job takes or took, its planning left out; None where that is unknown."""

    tool_calls: int
    model_calls: int
    input_tokens: int | None
    output_tokens: int | None
    cost: Money | None
    seconds: float | None


class Comparison(Frozen):
    """What a job was to take when its plan was made, and what it has taken since."""

    estimated: Amounts
    actual: Amounts


class DryRun(Frozen):
    """A job that was only planned."""

    job_id: str
    status: str
    stop_reason: str | None
    message: str
    tasks: tuple[Task, ...]
    estimate: Estimate
    currency: str
