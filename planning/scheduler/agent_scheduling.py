"""Decide when an agent task takes its next turn, and which limit the agent has reached."""

from collections.abc import Iterator

from holdfast.models.jobs.job_state import AdvanceAgentTask, JobState, TaskState
from holdfast.models.jobs.work_limit import work_over_message
from holdfast.models.plans.research_plan import TaskKind, TaskStatus
from holdfast.models.strategies.job_strategy import Horizon, Strategy
from holdfast.planning.loop.loop_tasks import works_as_loop


def is_running_agent(agent_task: TaskState) -> bool:
    """True if the task is an agent task that is running."""
    return agent_task.kind is TaskKind.AGENT and agent_task.status is TaskStatus.RUNNING


def may_replan_steps(state: JobState, agent_task: TaskState) -> bool:
    """True if a failed step is replanned; an agent that works step by step only observes it."""
    return agent_horizon(state.strategy, agent_task) is Horizon.FULL


def agent_horizon(strategy: Strategy, agent_task: TaskState) -> Horizon:
    """Return how the agent plans its steps: all ahead, or one at a time."""
    if works_as_loop(agent_task, strategy) or strategy.horizon is Horizon.STEP:
        return Horizon.STEP
    return strategy.agent_horizon


def idle_agents(state: JobState, busy: frozenset[str]) -> Iterator[AdvanceAgentTask]:
    """Return the running agents that wait for no step, no replan and no answer.

    `busy` are the agents with a step that can start, or with a failed step to replan.
    """
    for agent_task in state.tasks.values():
        if (
            not is_running_agent(agent_task)
            or agent_task.id in busy
            or agent_task.id in state.advancing
        ):
            continue
        if agent_task.id not in state.replanning and not is_agent_waiting(agent_task, state):
            yield AdvanceAgentTask(
                task_id=agent_task.id, must_end=reached_agent_limit(agent_task, state)
            )


def is_agent_waiting(agent_task: TaskState, state: JobState) -> bool:
    """True if a running agent waits for the answer of a person or of another task."""
    return state.has_open_question(agent_task.id) or any(
        _is_unfinished(name, state) for name in agent_task.depends_on
    )


def _is_unfinished(task_id: str, state: JobState) -> bool:
    task = state.tasks.get(task_id)
    return task is not None and task.status.is_open


def conclude_blocked_agent(state: JobState) -> AdvanceAgentTask | None:
    """Make an agent conclude if it waits for a task that can never finish."""
    for agent_task in state.tasks.values():
        if (
            is_running_agent(agent_task)
            and not state.has_open_question(agent_task.id)
            and is_agent_waiting(agent_task, state)
        ):
            names = ", ".join(n for n in agent_task.depends_on if _is_unfinished(n, state))
            why = f"{names}, which was to answer its question, cannot run"
            return AdvanceAgentTask(task_id=agent_task.id, must_end=why)
    return None


def reached_agent_limit(agent_task: TaskState, state: JobState) -> str:
    """Return the limit that the agent has reached, in words; empty if it has reached none."""
    strategy = state.strategy
    taken = [step for step in state.steps_of(agent_task.id) if step.status.has_run]
    calls = sum(step.kind is TaskKind.TOOL for step in taken)
    if agent_task.seconds >= strategy.agent_timeout.total_seconds():
        return work_over_message("agent_timeout", strategy.agent_timeout)
    if calls >= strategy.max_agent_calls:
        return f"{calls} tool calls were made (max_agent_calls)"
    if len(taken) >= strategy.max_agent_steps:
        return f"{len(taken)} steps were taken (max_agent_steps)"
    return ""


def steps_taken(state: JobState) -> int:
    """Return the number of steps that all agents of the job have taken."""
    return sum(bool(task.parent) and task.status.has_run for task in state.tasks.values())


def failed_steps(state: JobState) -> int:
    """Return the number of failed steps that nobody replans; each counts as a retry."""
    failed = (t.parent for t in state.tasks.values() if t.status is TaskStatus.FAILED)
    agents = (state.tasks[name] for name in failed if name in state.tasks)
    return sum(not may_replan_steps(state, each) for each in agents)
