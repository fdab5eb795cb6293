"""Choose the tasks that the list on a job's page shows: a page of all, or of one phase."""

from collections.abc import Sequence
from typing import NamedTuple

from holdfast.models.tasks.stored_task import StoredTask
from holdfast.planning.plans.task_display_order import in_display_order
from holdfast.web.watch.plan_layout import Phase

MOST_LISTED = 100


class TaskList(NamedTuple):
    """Some of the tasks, and where they stand among all that the list has."""

    tasks: tuple[StoredTask, ...]
    phase: Phase | None
    """The phase whose tasks are listed; None: those of the whole plan."""
    start: int
    total: int

    @property
    def earlier(self) -> int | None:
        """Where the page before begins."""
        return max(0, self.start - MOST_LISTED) if self.start else None

    @property
    def later(self) -> int | None:
        """Where the next page begins."""
        end = self.start + len(self.tasks)
        return end if end < self.total else None


def list_tasks(
    stored: Sequence[StoredTask], phases: Sequence[Phase], *, phase: int | None, start: int
) -> TaskList:
    """A page of the tasks with their steps, from `start` on."""
    chosen = next((each for each in phases if each.number == phase), None)
    if chosen is not None:
        names = {task.id for task in chosen.tasks}
        stored = [each for each in stored if each.task.id in names or each.task.parent in names]
    by_id = {each.task.id: each for each in stored}
    order = [task.id for task in in_display_order([each.task for each in stored])]
    ids = dict.fromkeys((*(name for name in order if name in by_id), *by_id))
    first = start if start < len(ids) else 0
    shown = list(ids)[first : first + MOST_LISTED]
    return TaskList(tuple(by_id[name] for name in shown), chosen, first, len(ids))
