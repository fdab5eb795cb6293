"""How many calls of which kind a plan would take, task by task."""

from collections import Counter
from collections.abc import Iterable

from models.base import Frozen
from models.plan import Task, TaskKind
from models.strategy import Horizon, Strategy, Supervision

ASSUMED_STEPS = 3
"""Steps of an agent where none has worked in this installation yet."""


class Work(Frozen):
    """Calls one after the other: of roles by name, and of tools by name."""

    roles: dict[str, int]
    tools: dict[str, int]
    """The empty name is any tool: an agent has not chosen one yet."""


def work_of(task: Task, strategy: Strategy, steps: int | None) -> Work:
    """What a task takes if it goes well at once; `steps` are an agent's, as they usually are."""
    match task.kind:
        case TaskKind.TOOL:
            return Work(roles=_reading(strategy, 1), tools={task.tool: 1})
        case TaskKind.REASONING:
            return Work(roles={"reasoner": 1}, tools={})
        case TaskKind.AGENT:
            count = min(ASSUMED_STEPS if steps is None else steps, strategy.max_node_steps)
            return _of_agent(strategy, max(1, count))


def _of_agent(strategy: Strategy, steps: int) -> Work:
    """An agent's steps are calls, and one deduction at the end."""
    calls = max(1, steps - 1)
    roles = Counter(_reading(strategy, calls))
    if strategy.node_horizon is Horizon.FULL:
        roles.update({"node_planner": 1, "reasoner": 1})
    else:
        roles["stepper"] += calls + 1
    judged = {Supervision.NONE: 0, Supervision.NODE: 1, Supervision.STEP: steps}
    roles["assessor"] += judged[strategy.supervise]
    return Work(roles={name: n for name, n in roles.items() if n}, tools={"": calls})


def _reading(strategy: Strategy, calls: int) -> dict[str, int]:
    return {"extractor": calls} if strategy.extraction else {}


def after_all(tasks: int, strategy: Strategy) -> Work:
    """What follows once the tasks are done: one verification of each, and the report."""
    verified = {"verifier": tasks} if strategy.verify else {}
    return Work(roles={**verified, "synthesiser": 1}, tools={})


def together(works: Iterable[Work]) -> Work:
    """All of it."""
    roles: Counter[str] = Counter()
    tools: Counter[str] = Counter()
    for work in works:
        roles.update(work.roles)
        tools.update(work.tools)
    return Work(roles=dict(roles), tools=dict(tools))
