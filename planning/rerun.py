"""What runs again when a person names tasks to run again, and what is kept as it is."""

from collections.abc import Mapping, Sequence

from models.control import Rerun
from models.errors import BadInput, NotFound
from models.plan import TaskStatus
from models.state import TaskState
from planning.graph import dependents

_RAN = (TaskStatus.DONE, TaskStatus.FAILED)


def rerun(tasks: Mapping[str, TaskState], named: Sequence[str]) -> Rerun:
    """The named tasks and every task that ran on what they had found, in order of the plan.

    Raises:
        NotFound: the plan has no such task.
        BadInput: a task was replaced by others, has not run yet, or something of it is running.
    """
    for name in named:
        _check(tasks, name)
    waits = {task.id: task.depends_on for task in tasks.values()}
    touched = set(named).union(*(dependents(waits, name) for name in named))
    running = [name for name in tasks if name in touched and _is(tasks, name, TaskStatus.RUNNING)]
    if running:
        raise BadInput(
            f"{', '.join(running)} runs now; wait for it, or pause the job until it is done"
        )
    again = tuple(n for n in tasks if n in touched and (n in named or tasks[n].status in _RAN))
    kept = tuple(n for n in tasks if n not in touched and _is(tasks, n, TaskStatus.DONE))
    return Rerun(again=again, kept=kept)


def failed(tasks: Mapping[str, TaskState]) -> Rerun:
    """What resuming a job that had ended runs again: the tasks that failed."""
    again = tuple(name for name in tasks if _is(tasks, name, TaskStatus.FAILED))
    kept = tuple(name for name in tasks if _is(tasks, name, TaskStatus.DONE))
    return Rerun(again=again, kept=kept)


def _check(tasks: Mapping[str, TaskState], name: str) -> None:
    task = tasks.get(name)
    if task is None:
        known = ", ".join(n for n in tasks if tasks[n].status in _RAN) or "none yet"
        raise NotFound(f"the plan has no task {name!r}; tasks that have run: {known}")
    if task.status is TaskStatus.SUPERSEDED:
        line = [
            each.id
            for each in tasks.values()
            if each.root == task.root and each.status is not TaskStatus.SUPERSEDED
        ]
        hint = f"; retry {' '.join(line)} instead" if line else ""
        raise BadInput(f"{name} was replaced when the plan was changed{hint}")
    if task.status is TaskStatus.PENDING:
        raise BadInput(f"{name} has not run yet, so there is nothing to run again")


def _is(tasks: Mapping[str, TaskState], name: str, status: TaskStatus) -> bool:
    return tasks[name].status is status
