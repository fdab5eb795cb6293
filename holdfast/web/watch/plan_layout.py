"""Lay out a plan from left to right so that it keeps still while it grows.

A task's column is the longest path to it, and its row the order in which tasks came to that column.
Plan changes append tasks, so no task moves. Plans that are too large to read are folded: each
column to one box, and around a chosen task its neighbourhood stays.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from holdfast.models.plans.research_plan import Task, TaskStatus

MOST_DRAWN = 120
"""Tasks that a person still reads in a drawing."""
_NEIGHBOURHOOD = 60
_MOST_PHASES = 30
COLUMN_WIDTH, ROW_HEIGHT = 212, 80
BOX_WIDTH, BOX_HEIGHT = 188, 66
_MARGIN = 4


class Box(NamedTuple):
    """A task at its place."""

    id: str
    x: int
    y: int


class PlanLayout(NamedTuple):
    """The boxes of tasks, the lines between them, and the size of the drawing."""

    boxes: tuple[Box, ...]
    lines: tuple[tuple[Box, Box], ...]
    width: int
    height: int


class Phase(NamedTuple):
    """The tasks of one column, or of several, of a plan that is too large to draw."""

    number: int
    last: int
    tasks: tuple[Task, ...]

    @property
    def name(self) -> str:
        return f"Phase {self.number}" if self.last == self.number else self._range

    @property
    def _range(self) -> str:
        return f"Phases {self.number} to {self.last}"

    @property
    def done(self) -> int:
        """How many of the tasks are done."""
        return sum(task.status is TaskStatus.DONE for task in self.tasks)


def columns_of(tasks: Sequence[Task]) -> dict[str, int]:
    """The column of each task: one more than the last of those that it depends on."""
    known = {task.id for task in tasks}
    needs = {task.id: [each for each in task.depends_on if each in known] for task in tasks}
    followers = defaultdict(list)
    for name, before in needs.items():
        for each in before:
            followers[each].append(name)
    open_needs = {name: len(before) for name, before in needs.items()}
    columns: dict[str, int] = {}
    ready = [name for name, count in open_needs.items() if not count]
    for name in ready:
        columns[name] = 1 + max((columns[each] for each in needs[name]), default=-1)
        for follower in followers[name]:
            open_needs[follower] -= 1
            if not open_needs[follower]:
                ready.append(follower)
    # A stored plan has no cycle; a task of one would still be shown.
    return {task.id: columns.get(task.id, 0) for task in tasks}


def plan_layout(tasks: Sequence[Task]) -> PlanLayout:
    """Place every task."""
    columns = columns_of(tasks)
    rows: dict[int, int] = defaultdict(int)
    boxes: dict[str, Box] = {}
    for task in tasks:
        column = columns[task.id]
        x, y = _MARGIN + column * COLUMN_WIDTH, _MARGIN + rows[column] * ROW_HEIGHT
        boxes[task.id] = Box(task.id, x, y)
        rows[column] += 1
    lines = tuple(
        (boxes[need], boxes[task.id])
        for task in tasks
        for need in task.depends_on
        if need in boxes and columns[need] < columns[task.id]
    )
    width = _MARGIN * 2 + max(columns.values(), default=0) * COLUMN_WIDTH + BOX_WIDTH
    height = _MARGIN * 2 + (max(rows.values(), default=1) - 1) * ROW_HEIGHT + BOX_HEIGHT
    return PlanLayout(tuple(boxes.values()), lines, width, height)


def phases_of(tasks: Sequence[Task]) -> tuple[Phase, ...]:
    """The tasks by column; a plan of many columns has several of them in a phase."""
    columns = columns_of(tasks)
    count = 1 + max(columns.values(), default=-1)
    width = -(-count // _MOST_PHASES) or 1
    by_phase: dict[int, list[Task]] = defaultdict(list)
    for task in tasks:
        by_phase[columns[task.id] // width].append(task)
    return tuple(
        Phase(n * width + 1, min((n + 1) * width, count), tuple(by_phase[n]))
        for n in sorted(by_phase)
    )


def neighbourhood(tasks: Sequence[Task], centre: str) -> list[Task]:
    """The task with what it depends on and what depends on it, the nearest first."""
    by_id = {task.id: task for task in tasks}
    if centre not in by_id:
        return []
    near = _near(by_id, centre)
    return [task for task in tasks if task.id in near]


def _near(by_id: Mapping[str, Task], centre: str) -> set[str]:
    linked: dict[str, list[str]] = defaultdict(list)
    for task in by_id.values():
        for need in task.depends_on:
            linked[task.id].append(need)
            linked[need].append(task.id)
    near, edge = {centre}, [centre]
    while edge and len(near) < _NEIGHBOURHOOD:
        edge = [name for name in _next_ring(linked, edge) if name in by_id and name not in near]
        near.update(edge[: _NEIGHBOURHOOD - len(near)])
    return near


def _next_ring(linked: Mapping[str, Sequence[str]], edge: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(name for each in edge for name in linked.get(each, ())))
