"""List the tasks that can start now: their dependencies are done and their agent is not waiting."""

from collections.abc import Sequence

from holdfast.models.jobs.job_state import JobState, TaskState
from holdfast.models.plans.research_plan import TaskKind, TaskStatus
from holdfast.planning.scheduler.agent_scheduling import (
    is_agent_waiting,
    is_running_agent,
    reached_agent_limit,
)


def ready_tasks(state: JobState) -> Sequence[TaskState]:
    """Return the pending tasks whose dependencies are done, by priority, then plan order.

    A step has its agent's priority, and waits while the agent waits for an answer or has reached
    a limit.
    """
    order = {task_id: n for n, task_id in enumerate(state.tasks)}
    held = _held_agents(state)
    free = (task for task in state.tasks.values() if task.parent not in held)
    able = [task for task in free if _is_ready(task, state)]
    return sorted(able, key=lambda task: (-_priority(task, state), order[task.id]))


def _held_agents(state: JobState) -> frozenset[str]:
    """Return the agents whose steps must not start."""
    return frozenset(
        agent_task.id
        for agent_task in state.tasks.values()
        if agent_task.kind is TaskKind.AGENT
        and (
            not is_running_agent(agent_task)
            or is_agent_waiting(agent_task, state)
            or reached_agent_limit(agent_task, state)
        )
    )


def _is_ready(task: TaskState, state: JobState) -> bool:
    if task.status is not TaskStatus.PENDING:
        return False
    return all(is_task_done(need, state) for need in task.depends_on)


def is_task_done(task_id: str, state: JobState) -> bool:
    """True if the task exists and is done."""
    task = state.tasks.get(task_id)
    return task is not None and task.status is TaskStatus.DONE


def _priority(task: TaskState, state: JobState) -> int:
    return state.tasks[task.parent].priority if task.parent else task.priority
