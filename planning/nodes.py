"""Agents and their steps as the scheduler sees them: when one advances, and which limit it met."""

from collections.abc import Iterator

from models.plan import TaskKind, TaskStatus
from models.state import AdvanceNode, JobState, TaskState
from models.strategy import Horizon

_OVER = (TaskStatus.DONE, TaskStatus.FAILED)


def is_open(node: TaskState) -> bool:
    """Whether this is an agent at work."""
    return node.kind is TaskKind.AGENT and node.status is TaskStatus.RUNNING


def may_replan_steps(state: JobState) -> bool:
    """Whether a failed step is replanned; where steps are taken one by one it is observed."""
    return node_horizon(state) is Horizon.FULL


def node_horizon(state: JobState) -> Horizon:
    """How agents plan their steps."""
    if state.strategy.horizon is Horizon.STEP:
        return Horizon.STEP
    return state.strategy.node_horizon


def idle_nodes(state: JobState, busy: frozenset[str]) -> Iterator[AdvanceNode]:
    """Agents that wait for nothing: neither for a step of theirs, nor for a replan or an answer.

    `busy` are those that have a step which can start, or a failed one which is replanned.
    """
    for node in state.tasks.values():
        if not is_open(node) or node.id in busy or node.id in state.advancing:
            continue
        if node.id not in state.replanning and not is_waiting(node, state):
            yield AdvanceNode(task_id=node.id, must_end=limit_of(node, state))


def is_waiting(node: TaskState, state: JobState) -> bool:
    """Whether an agent at work waits for an answer: of a person, or of another task."""
    return state.awaits(node.id) or any(_is_unfinished(name, state) for name in node.depends_on)


def _is_unfinished(task_id: str, state: JobState) -> bool:
    task = state.tasks.get(task_id)
    return task is not None and task.status in (TaskStatus.PENDING, TaskStatus.RUNNING)


def in_vain(state: JobState) -> AdvanceNode | None:
    """An agent that waits for a task which nothing can bring to its end: it must conclude."""
    for node in state.tasks.values():
        if is_open(node) and not state.awaits(node.id) and is_waiting(node, state):
            names = ", ".join(n for n in node.depends_on if _is_unfinished(n, state))
            why = f"{names}, which was to answer its question, cannot run"
            return AdvanceNode(task_id=node.id, must_end=why)
    return None


def limit_of(node: TaskState, state: JobState) -> str:
    """The limit that this agent has reached, in words; empty while it has reached none."""
    strategy = state.strategy
    taken = [step for step in state.steps_of(node.id) if step.status in _OVER]
    calls = sum(step.kind is TaskKind.TOOL for step in taken)
    if node.seconds >= strategy.agent_timeout.total_seconds():
        return f"{strategy.agent_timeout.total_seconds():.0f} s of work are over (agent_timeout)"
    if calls >= strategy.max_agent_calls:
        return f"{calls} tool calls were made (max_agent_calls)"
    if len(taken) >= strategy.max_node_steps:
        return f"{len(taken)} steps were taken (max_node_steps)"
    return ""


def steps_taken(state: JobState) -> int:
    """Steps that all agents of the job have taken."""
    return sum(bool(task.parent) and task.status in _OVER for task in state.tasks.values())


def failed_steps(state: JobState) -> int:
    """Steps that failed where nobody replans them: each was one more try."""
    if may_replan_steps(state):
        return 0
    return sum(
        bool(task.parent) and task.status is TaskStatus.FAILED for task in state.tasks.values()
    )
