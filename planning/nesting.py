"""The order in which people read a plan: each agent with its steps behind it."""

from collections import defaultdict
from collections.abc import Iterable
from typing import Protocol, TypeVar


class Nested(Protocol):
    """Anything that is a task."""

    @property
    def id(self) -> str: ...

    @property
    def parent(self) -> str: ...


TaskT = TypeVar("TaskT", bound=Nested)


def nested(tasks: Iterable[TaskT]) -> list[TaskT]:
    """The tasks in their order, and the steps of each directly behind it."""
    steps: dict[str, list[TaskT]] = defaultdict(list)
    for task in tasks:
        steps[task.parent].append(task)
    return [each for task in steps[""] for each in (task, *steps[task.id])]
