"""Tell which tasks are cited loops, and which tasks are the calls of one."""

from holdfast.models.jobs.job_state import TaskState
from holdfast.models.plans.research_plan import OPENING_TASK, Task
from holdfast.models.strategies.job_strategy import AgentMethod, Strategy


def works_as_loop(agent_task: Task | TaskState, strategy: Strategy) -> bool:
    """True if this agent task works as a cited loop."""
    return agent_task.is_opening or strategy.agent_method is AgentMethod.LOOP


def is_step_of_loop(task: Task | TaskState, strategy: Strategy) -> bool:
    """True if the task is a call of an agent that works as a cited loop."""
    is_of_opening = strategy.opens_with_loop and task.parent == OPENING_TASK
    return bool(task.parent) and (is_of_opening or strategy.agent_method is AgentMethod.LOOP)
