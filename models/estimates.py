"""What a plan would take: calls, and tokens where earlier calls tell."""

from pydantic import computed_field

from models.base import Frozen
from models.plan import Task
from models.views import Tokens


class TypicalCall(Frozen):
    """The medians of a role's earlier calls, and how many those are."""

    input_tokens: int
    output_tokens: int
    seen: int


class RoleEstimate(Frozen):
    """What one role would take in all; None where it was never seen."""

    role: str
    calls: int
    input_tokens: int | None = None
    output_tokens: int | None = None
    seen: int = 0


class Estimate(Frozen):
    """What working a plan would take if all went well at once."""

    tool_calls: int
    roles: tuple[RoleEstimate, ...]
    spent: Tokens
    """What planning has cost."""

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


class DryRun(Frozen):
    """A job that was only planned."""

    job_id: str
    status: str
    stop_reason: str | None
    message: str
    tasks: tuple[Task, ...]
    estimate: Estimate
