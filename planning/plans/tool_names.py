"""Add the missing server to tool names: `search` becomes `corpus.search` if that is unique."""

from collections.abc import Mapping

from holdfast.models.calls.tool_signatures import ToolSignature
from holdfast.models.plans.research_plan import Plan, Task


def with_full_tool_names(plan: Plan, tools: Mapping[str, ToolSignature]) -> Plan:
    """Return the plan with `search` completed to `corpus.search` if only one server has it."""
    return Plan(tasks=tuple(_named(task, tools) for task in plan.tasks))


def _named(task: Task, tools: Mapping[str, ToolSignature]) -> Task:
    if not task.tool or task.tool in tools:
        return task
    matches = [name for name in tools if name.partition(".")[2] == task.tool]
    return task.with_tool(matches[0]) if len(matches) == 1 else task
