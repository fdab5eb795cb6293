"""Find the downstream tasks of a task: every task that used its results, directly or not."""

from holdfast.models.plans.research_plan import Plan
from holdfast.planning.plans.plan_graph import dependents


def downstream_tasks(plan: Plan, task_id: str) -> tuple[str, ...]:
    """Return the tasks that used this task's results, directly or not, in order of the plan.

    A step's agent used the step's results, and the tasks that depend on the agent used the agent's.
    """
    waits = {task.id: task.depends_on for task in plan.tasks}
    steps = {task.id: task.parent for task in plan.tasks if task.parent}
    for step, agent in steps.items():
        if agent in waits:
            waits[agent] = (*waits[agent], step)
    found = dependents(waits, task_id)
    return tuple(task.id for task in plan.live if task.id in found)


def owning_task(plan: Plan, task_id: str) -> str:
    """Return the task of the plan that a task belongs to: its agent task, or itself."""
    task = plan.by_id.get(task_id)
    return task.parent if task is not None and task.parent else task_id
