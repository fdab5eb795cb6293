"""What runs again when a person names tasks to run again, and what is kept as it is."""

from collections.abc import Mapping, Sequence

from models.control import Rerun
from models.errors import BadInput, NotFound
from models.jobs import StopReason
from models.plan import TaskKind, TaskStatus
from models.state import JobState, TaskState
from planning.decide import ends_at_once
from planning.endings import has_answer
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
    own = tuple(task.id for task in tasks.values() if not task.parent)
    again = tuple(n for n in own if n in touched and (n in named or tasks[n].status in _RAN))
    kept = tuple(n for n in own if n not in touched and _is(tasks, n, TaskStatus.DONE))
    return Rerun(again=again, kept=kept)


def retried(state: JobState, named: Sequence[str]) -> Rerun:
    """As `rerun`, where the job is sure to get to these tasks.

    What a task had found is forgotten when it is to run again, so it must be able to.

    Raises:
        NotFound: the plan has no such task.
        BadInput: as `rerun`; or the job would end before all of them had run.
    """
    chosen = rerun(state.tasks, named)
    again = ", ".join(chosen.again)
    after = _waiting(state, chosen.again)
    if has_answer(after):
        raise BadInput(f"the answer does not rest on {again}: it would stay, and they not run")
    limit = state.strategy.max_tool_calls
    calls = sum(after.tasks[name].kind is TaskKind.TOOL for name in chosen.again)
    left = max(0, limit - state.tool_calls)
    if calls > left:
        raise BadInput(
            f"{again} take {calls} tool calls, and {left} of {limit} are left (max_tool_calls)"
        )
    stop = ends_at_once(after)
    if stop is not None:
        others = " ".join(n for n in after.tasks if _is(after.tasks, n, TaskStatus.FAILED))
        hint = f"; retry {others} as well" if others else ""
        raise BadInput(f"the job would end before {again} ran: {stop.message}{hint}")
    return chosen


def resumed(state: JobState) -> tuple[str, ...]:
    """What resuming a job that had ended runs again: the tasks that failed.

    Raises:
        BadInput: it would end again at once.
    """
    again = tuple(t.id for t in state.plan_tasks if t.status is TaskStatus.FAILED)
    stop = ends_at_once(_waiting(state, again))
    if stop is None:
        return again
    is_limit = stop.reason is StopReason.TOOL_CALL_LIMIT
    hint = "give it more with `--set max_tool_calls=N`" if is_limit else "retry one of its tasks"
    raise BadInput(f"the job would end again at once: {stop.message}; {hint}")


def _waiting(state: JobState, again: Sequence[str]) -> JobState:
    """The state once these tasks wait again, as does what had been cancelled."""
    return state.model_copy(
        update={"tasks": {name: _as_waiting(task, again) for name, task in state.tasks.items()}}
    )


def _as_waiting(task: TaskState, again: Sequence[str]) -> TaskState:
    if task.parent in again:
        return task.model_copy(update={"status": TaskStatus.SUPERSEDED})
    if task.id in again or task.status is TaskStatus.CANCELLED:
        return task.model_copy(update={"status": TaskStatus.PENDING})
    return task


def _check(tasks: Mapping[str, TaskState], name: str) -> None:
    task = tasks.get(name)
    if task is None:
        ran = (t.id for t in tasks.values() if t.status in _RAN and not t.parent)
        known = ", ".join(ran) or "none yet"
        raise NotFound(f"the plan has no task {name!r}; tasks that have run: {known}")
    if task.parent:
        raise BadInput(f"{name} is a step of {task.parent}; retry {task.parent} instead")
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
