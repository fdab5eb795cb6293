"""Which tasks could start now: their dependencies are done, and nothing holds them back."""

from collections.abc import Sequence

from models.plan import TaskKind, TaskStatus
from models.state import JobState, TaskState
from planning.nodes import is_open, is_waiting, limit_of


def ready(state: JobState) -> Sequence[TaskState]:
    """Pending tasks whose dependencies are done: the higher priority first, then plan order.

    A step has its agent's priority, and waits while that one waits for an answer or has reached
    a limit.
    """
    order = {task_id: n for n, task_id in enumerate(state.tasks)}
    held = _held(state)
    free = (task for task in state.tasks.values() if task.parent not in held)
    able = [task for task in free if _is_ready(task, state)]
    return sorted(able, key=lambda task: (-_priority(task, state), order[task.id]))


def _held(state: JobState) -> frozenset[str]:
    """Agents whose steps do not start."""
    return frozenset(
        node.id
        for node in state.tasks.values()
        if node.kind is TaskKind.AGENT
        and (not is_open(node) or is_waiting(node, state) or limit_of(node, state))
    )


def _is_ready(task: TaskState, state: JobState) -> bool:
    if task.status is not TaskStatus.PENDING:
        return False
    return all(is_done(need, state) for need in task.depends_on)


def is_done(task_id: str, state: JobState) -> bool:
    """Whether there is such a task and it kept its promise."""
    task = state.tasks.get(task_id)
    return task is not None and task.status is TaskStatus.DONE


def _priority(task: TaskState, state: JobState) -> int:
    return state.tasks[task.parent].priority if task.parent else task.priority
