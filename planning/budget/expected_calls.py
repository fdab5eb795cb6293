"""Count the model and tool calls that each task of a plan is expected to make."""

from collections import Counter
from collections.abc import Iterable

from holdfast.models.frozen_model import Frozen
from holdfast.models.plans.research_plan import Task, TaskKind
from holdfast.models.strategies.job_strategy import AgentMethod, Horizon, Strategy, Supervision
from holdfast.models.wire.role_names import RoleName
from holdfast.planning.loop.loop_tasks import works_as_loop

ASSUMED_STEPS = 3
"""Steps of an agent if no agent has run in this installation yet."""


class ExpectedCalls(Frozen):
    """Numbers of calls in sequence: of roles by name, and of tools by name."""

    roles: dict[str, int]
    tools: dict[str, int]
    """The empty name stands for any tool: an agent chooses its tools later."""


def calls_of_task(task: Task, strategy: Strategy, steps: int | None) -> ExpectedCalls:
    """Return the calls of a task without retries; `steps` is the usual number of an agent."""
    match task.kind:
        case TaskKind.TOOL:
            return ExpectedCalls(roles=_extraction_calls(strategy, 1), tools={task.tool: 1})
        case TaskKind.REASONING:
            return ExpectedCalls(roles={RoleName.REASONER: 1}, tools={})
        case TaskKind.AGENT:
            count = min(ASSUMED_STEPS if steps is None else steps, strategy.max_agent_steps)
            calls = _calls_of_loop if works_as_loop(task, strategy) else _calls_of_agent
            return calls(strategy, max(1, count))


def _calls_of_agent(strategy: Strategy, steps: int) -> ExpectedCalls:
    """Return the calls of an agent: its steps are tool calls, with one deduction at the end."""
    calls = max(1, steps - 1)
    roles = Counter(_extraction_calls(strategy, calls))
    if strategy.agent_horizon is Horizon.FULL:
        roles.update({RoleName.STEP_PLANNER: 1, RoleName.REASONER: 1})
    else:
        roles[RoleName.STEPPER] += calls + 1
    judged = {Supervision.NONE: 0, Supervision.AGENT: 1, Supervision.STEP: steps}
    roles[RoleName.ASSESSOR] += judged[strategy.supervise]
    return ExpectedCalls(roles={name: n for name, n in roles.items() if n}, tools={"": calls})


def _calls_of_loop(strategy: Strategy, steps: int) -> ExpectedCalls:
    """Return the calls of a loop: its steps are searches, of which a reply makes two or so."""
    judged = {RoleName.ANSWER_JUDGE: 1} if strategy.check_sentences else {}
    roles = {RoleName.LOOP_AGENT: 1 + steps // 2, **judged}
    return ExpectedCalls(roles=roles, tools={"": steps})


def _extraction_calls(strategy: Strategy, calls: int) -> dict[str, int]:
    """Return one extraction for each call; with `extract_above`, every answer counts as long."""
    extracts = strategy.extraction or strategy.extract_above is not None
    return {RoleName.EXTRACTOR: calls} if extracts else {}


def closing_calls(tasks: int, strategy: Strategy) -> ExpectedCalls:
    """Return the calls after the tasks: one verification of each result, and the report."""
    if strategy.agent_method is AgentMethod.LOOP and strategy.has_fixed_plan:
        return ExpectedCalls(roles={}, tools={})  # the loop's sentences are the report
    verified = {RoleName.VERIFIER: tasks} if strategy.verify else {}
    return ExpectedCalls(roles={**verified, RoleName.SYNTHESISER: 1}, tools={})


def sum_calls(works: Iterable[ExpectedCalls]) -> ExpectedCalls:
    """Return the sum of the calls."""
    roles: Counter[str] = Counter()
    tools: Counter[str] = Counter()
    for work in works:
        roles.update(work.roles)
        tools.update(work.tools)
    return ExpectedCalls(roles=dict(roles), tools=dict(tools))
