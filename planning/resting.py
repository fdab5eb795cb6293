"""What rests on a task's findings: its agent, and every task that comes after it."""

from models.plan import Plan
from planning.graph import dependents


def resting_on(plan: Plan, task_id: str) -> tuple[str, ...]:
    """The tasks that used what this one found, directly or not, in order of the plan.

    A step's agent concluded from it, and what waits for the agent from that.
    """
    waits = {task.id: task.depends_on for task in plan.tasks}
    steps = {task.id: task.parent for task in plan.tasks if task.parent}
    for step, agent in steps.items():
        if agent in waits:
            waits[agent] = (*waits[agent], step)
    found = dependents(waits, task_id)
    return tuple(task.id for task in plan.live if task.id in found)


def owner_of(plan: Plan, task_id: str) -> str:
    """The task of the plan itself to which a task's findings belong: its agent, or the task."""
    task = plan.by_id.get(task_id)
    return task.parent if task is not None and task.parent else task_id
