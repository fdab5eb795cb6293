"""Decide when a report is written group by group, and which tasks form a group."""

from collections.abc import Iterable

from holdfast.models.plans.research_plan import Task, TaskKind

MAX_CHARACTERS = 15_000
"""Characters of results and evidence that one call may turn into a report (VMAO)."""
MIN_GROUPED_RESULTS = 10
"""From this number of results on, each group is condensed first (VMAO)."""


def needs_groups(characters: int, results: int) -> bool:
    """True if results and evidence are too long for one call."""
    return characters > MAX_CHARACTERS or results >= MIN_GROUPED_RESULTS


def group_of(task: Task) -> str:
    """Return the group of a task: its agent, else its tool, else reasoning."""
    if task.kind is TaskKind.AGENT:
        return task.agent
    return task.tool or task.kind.value


def groups_of(tasks: Iterable[Task]) -> dict[str, tuple[str, ...]]:
    """Return the ids of the tasks of each group, in order of the plan."""
    found: dict[str, tuple[str, ...]] = {}
    for task in tasks:
        found[group_of(task)] = (*found.get(group_of(task), ()), task.id)
    return found
