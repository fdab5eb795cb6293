"""Order tasks for display: each agent task, directly followed by its steps."""

from collections import defaultdict
from collections.abc import Iterable
from typing import Protocol, TypeVar


class HasParent(Protocol):
    """Anything with the id and parent of a task."""

    @property
    def id(self) -> str: ...

    @property
    def parent(self) -> str: ...


TaskT = TypeVar("TaskT", bound=HasParent)


def in_display_order(tasks: Iterable[TaskT]) -> list[TaskT]:
    """Return the tasks in order, each agent task directly followed by its steps."""
    steps: dict[str, list[TaskT]] = defaultdict(list)
    for task in tasks:
        steps[task.parent].append(task)
    return [each for task in steps[""] for each in (task, *steps[task.id])]
