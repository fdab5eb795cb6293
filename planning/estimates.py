"""What a plan would take, counted from its tasks and from what earlier calls took."""

from collections.abc import Mapping

from models.estimates import Estimate, RoleEstimate, TypicalCall
from models.plan import Plan, TaskKind, TaskStatus
from models.strategy import Strategy
from models.views import Tokens


def estimate(
    plan: Plan, strategy: Strategy, typical: Mapping[str, TypicalCall], spent: Tokens
) -> Estimate:
    """What the tasks that wait would take: no replan, no second chunk, no correction.

    `typical` is by role.
    """
    kinds = [task.kind for task in plan.live if task.status is TaskStatus.PENDING]
    tools = min(kinds.count(TaskKind.TOOL), strategy.max_tool_calls)
    calls = {
        "extractor": tools if strategy.extraction else 0,
        "reasoner": kinds.count(TaskKind.REASONING),
        "synthesiser": 1 if kinds else 0,
    }
    roles = (_role(name, count, typical.get(name)) for name, count in calls.items() if count)
    return Estimate(tool_calls=tools, roles=tuple(roles), spent=spent)


def _role(name: str, calls: int, typical: TypicalCall | None) -> RoleEstimate:
    if typical is None:
        return RoleEstimate(role=name, calls=calls)
    return RoleEstimate(
        role=name,
        calls=calls,
        input_tokens=calls * typical.input_tokens,
        output_tokens=calls * typical.output_tokens,
        seen=typical.seen,
    )
