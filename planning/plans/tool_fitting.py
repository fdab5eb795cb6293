"""Fit drafted tasks to the tools: complete tool names, and read arguments written as JSON text."""

from collections.abc import Collection, Mapping

from pydantic import JsonValue

from holdfast.models.calls.tool_signatures import ToolSignature
from holdfast.models.plans.research_plan import EntityType, Plan, Task, TaskInput
from holdfast.models.text.reference_marks import has_reference, quote_bare_references
from holdfast.planning.plans.tool_parameters import takes_containers_only
from holdfast.planning.results.value_types import parse_container

_CONTAINERS = frozenset({EntityType.ARRAY, EntityType.DICT})


def fit_to_tools(
    plan: Plan, tools: Mapping[str, ToolSignature], agents: Collection[str] = ()
) -> Plan:
    """Return the plan with full names of tools, and objects and lists in place of JSON text.

    `search` becomes `corpus.search` if only one server has it; names of tools and agents are found
    in another case as well. A strict schema has no objects of
    free names, so models write such arguments as JSON text.
    """
    return Plan(tasks=tuple(_fit_agent(fit_to_tool(task, tools), agents) for task in plan.tasks))


def fit_to_tool(task: Task, tools: Mapping[str, ToolSignature]) -> Task:
    """Return the task as `fit_to_tools` does; the references inside JSON text stay references."""
    named = _with_full_name(task, tools)
    inputs = tuple(_fitted_input(given, tools.get(named.tool)) for given in named.inputs)
    return named if inputs == named.inputs else named.with_inputs(inputs)


def _with_full_name(task: Task, tools: Mapping[str, ToolSignature]) -> Task:
    if not task.tool or task.tool in tools:
        return task
    wanted = task.tool.strip().casefold()
    whole = [name for name in tools if name.casefold() == wanted]
    matches = whole or [name for name in tools if name.partition(".")[2].casefold() == wanted]
    return task.with_tool(matches[0]) if len(matches) == 1 else task


def _fit_agent(task: Task, agents: Collection[str]) -> Task:
    if not task.agent or task.agent in agents:
        return task
    matches = [name for name in agents if name.casefold() == task.agent.strip().casefold()]
    return task.with_agent(matches[0]) if len(matches) == 1 else task


def _fitted_input(given: TaskInput, tool: ToolSignature | None) -> TaskInput:
    if not isinstance(given.value, str):
        return given
    takes = takes_containers_only(tool, given.name) if tool else None
    is_text = not takes if takes is not None else given.type not in _CONTAINERS
    return given if is_text else given.with_value(_container_with_references(given.value))


def _container_with_references(text: str) -> JsonValue:
    """The object or list that the text is in JSON, also if its references lack quotation marks.

    Models leave the marks out where the reference is to a number, which has none either.
    """
    container = parse_container(text)
    if container != text or not has_reference(text):
        return container
    quoted = parse_container(quote_bare_references(text))
    return text if isinstance(quoted, str) else quoted
