"""When a report is written group by group, and which tasks make a group."""

from collections.abc import Iterable

from models.plan import Task, TaskKind

MOST_CHARACTERS = 15_000
"""Of results and evidence together, that one call writes a report from (VMAO)."""
LEAST_RESULTS = 10
"""From so many results on, each group is condensed first (VMAO)."""


def needs_groups(characters: int, results: int) -> bool:
    """Whether there is too much for one call."""
    return characters > MOST_CHARACTERS or results >= LEAST_RESULTS


def group_of(task: Task) -> str:
    """Which group a task belongs to: its agent's, else its tool's, else the deductions'."""
    if task.kind is TaskKind.AGENT:
        return task.agent
    return task.tool or task.kind.value


def groups_of(tasks: Iterable[Task]) -> dict[str, tuple[str, ...]]:
    """The ids of the tasks of each group, in order of the plan."""
    found: dict[str, tuple[str, ...]] = {}
    for task in tasks:
        found[group_of(task)] = (*found.get(group_of(task), ()), task.id)
    return found
