"""Prepare the drawing of a plan at one of its revisions: boxes with words, and lines."""

import textwrap
from collections.abc import Container, Mapping, Sequence
from typing import NamedTuple

from holdfast.jobs.record_in_words import task_state
from holdfast.models.plans.research_plan import Task, TaskStatus
from holdfast.models.plans.stored_plan_change import StoredPlanChange
from holdfast.models.tasks.stored_task import StoredTask
from holdfast.models.text.terminal_text import shorten_text
from holdfast.models.text.value_text import value_as_text
from holdfast.web.rendering.plain_words import failure_in_words
from holdfast.web.watch.plan_layout import (
    BOX_HEIGHT,
    BOX_WIDTH,
    COLUMN_WIDTH,
    MOST_DRAWN,
    ROW_HEIGHT,
    Box,
    Phase,
    neighbourhood,
    phases_of,
    plan_layout,
)

_LINE, _OUTCOME = 22, 28
_LONGEST_ID = 12
"""Behind the drawn id there is always room for a few words."""
_GAP = COLUMN_WIDTH - BOX_WIDTH
_FITTING_WIDTH = 1100
"""A drawing up to this width is made smaller rather than scrolled."""


class DrawnTask(NamedTuple):
    """A box with its words; `state` is its class in the style sheet."""

    id: str
    drawn_id: str
    """The id as it fits into the box."""
    x: int
    y: int
    lines: tuple[str, ...]
    """What the task is about, on at most two lines."""
    outcome: str
    name: str
    """What a screen reader says."""
    state: str


class PlanDrawing(NamedTuple):
    """A plan as it is drawn; a plan that is too large has phases instead."""

    tasks: tuple[DrawnTask, ...]
    lines: tuple[tuple[str, bool], ...]
    """The path of each line, and whether it leads from or to a replaced task."""
    width: int
    height: int
    phases: tuple[Phase, ...] = ()

    @property
    def fits(self) -> bool:
        """True if the whole drawing stays readable in the width of a desktop page."""
        return self.width <= _FITTING_WIDTH


def draw_plan(
    stored: Sequence[StoredTask],
    changes: Sequence[StoredPlanChange],
    *,
    revision: int | None = None,
    chosen: str = "",
) -> PlanDrawing:
    """Draw the plan's own tasks, without steps, as they were after a change of the plan."""
    own = [each for each in stored if not each.task.parent]
    tasks = [each.task for each in own]
    phases: tuple[Phase, ...] = ()
    if len(tasks) > MOST_DRAWN:
        phases = phases_of(tasks)
        tasks = neighbourhood(tasks, chosen)
    layout = plan_layout(tasks)
    states = _states(own, changes, revision)
    by_id = {each.task.id: each for each in own}
    drawn = tuple(
        _drawn(by_id[box.id], box.x, box.y, _state(states[box.id], box.id, chosen))
        for box in layout.boxes
    )
    places = frozenset((box.x, box.y) for box in layout.boxes)
    lines = tuple(
        (_path(one, other, places), "gone" in states[one.id] + states[other.id])
        for one, other in layout.lines
    )
    return PlanDrawing(drawn, lines, layout.width, layout.height, phases)


def _state(state: str, task_id: str, chosen: str) -> str:
    return f"{state} selected" if task_id == chosen else state


def _states(
    stored: Sequence[StoredTask], changes: Sequence[StoredPlanChange], revision: int | None
) -> Mapping[str, str]:
    if revision is None:
        return {each.task.id: _current_state(each.task) for each in stored}
    gone = {name for change in changes if change.number <= revision for name in change.superseded}
    return {
        each.task.id: "later"
        if each.added_by_change > revision
        else "gone"
        if each.task.id in gone
        else "done"
        if each.task.status is TaskStatus.DONE
        else "pending"
        for each in stored
    }


def _current_state(task: Task) -> str:
    return "gone" if task.status.is_discarded else task.status.value


def _drawn(stored: StoredTask, x: int, y: int, state: str) -> DrawnTask:
    task = stored.task
    outcome = outcome_text(stored)
    return DrawnTask(
        id=task.id,
        drawn_id=_drawn_id(task),
        x=x,
        y=y,
        lines=_label_lines(task),
        outcome=shorten_text(outcome, _OUTCOME),
        name=f"{task.id}, {task_state(task.status.value)}: {task.label}",
        state=state,
    )


def _label_lines(task: Task) -> tuple[str, ...]:
    """The description in two lines: the first is shorter, since the task's id stands before it."""
    room = _LINE - len(_drawn_id(task))
    text = " ".join(task.description.split())
    first = textwrap.wrap(text, room, max_lines=1, placeholder="") or [text[:room]]
    rest = text[len(first[0]) :].lstrip()
    return (first[0], shorten_text(rest, _LINE + 3)) if rest else (first[0],)


def _drawn_id(task: Task) -> str:
    return shorten_text(task.id, _LONGEST_ID)


def finding_text(stored: StoredTask) -> str:
    """What the task found or why it failed; what its state says already is not said again."""
    text = outcome_text(stored)
    return "" if text == task_state(stored.task.status.value) else text


def outcome_text(stored: StoredTask) -> str:
    """What the task found, why it failed, or what it waits for, on one line."""
    task = stored.task
    if task.result:
        return "; ".join(" ".join(value_as_text(each).split()) for each in task.result.values())
    if stored.failure is not None:
        return shorten_text(" ".join(failure_in_words(stored.failure).sentence.split()), 200)
    if task.status is TaskStatus.PENDING and task.depends_on:
        return f"waits for {', '.join(task.depends_on)}"
    return task_state(task.status.value)


def _path(one: Box, other: Box, places: Container[tuple[int, int]]) -> str:
    """A line from the right edge of one box to the left edge of the other, around boxes between."""
    start_x, start_y = one.x + BOX_WIDTH, one.y + BOX_HEIGHT // 2
    end_x, end_y = other.x, other.y + BOX_HEIGHT // 2
    between = range(one.x + COLUMN_WIDTH, other.x, COLUMN_WIDTH)
    if not between:
        return f"M{start_x} {start_y}{_curve(start_x, start_y, end_x, end_y)}"
    is_free = not any((x, one.y) in places for x in between)
    lane_y = start_y if is_free else one.y + (BOX_HEIGHT + ROW_HEIGHT) // 2
    turn_x, last_x = start_x + _GAP, end_x - _GAP
    return (
        f"M{start_x} {start_y}{_curve(start_x, start_y, turn_x, lane_y)}"
        f"H{last_x}{_curve(last_x, lane_y, end_x, end_y)}"
    )


def _curve(x1: int, y1: int, x2: int, y2: int) -> str:
    middle = (x1 + x2) // 2
    return f"C{middle} {y1} {middle} {y2} {x2} {y2}"
