"""A tool may be named without its server where that is unambiguous."""

from collections.abc import Mapping

from models.plan import Plan, Task
from models.tools import ToolSignature


def with_full_tool_names(plan: Plan, tools: Mapping[str, ToolSignature]) -> Plan:
    """The plan with `search` read as `corpus.search` where only one server has a `search`."""
    return Plan(tasks=tuple(_named(task, tools) for task in plan.tasks))


def _named(task: Task, tools: Mapping[str, ToolSignature]) -> Task:
    if not task.tool or task.tool in tools:
        return task
    matches = [name for name in tools if name.partition(".")[2] == task.tool]
    return task.model_copy(update={"tool": matches[0]}) if len(matches) == 1 else task
