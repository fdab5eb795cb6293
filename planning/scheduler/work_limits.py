"""Choose the limits of an activity's worked time from the strategy and the agent's time so far.

Worked time is time in which a worker ran an attempt, with the pauses between an attempt's error and
the next attempt. It never depends on the wall clock: an outage or a closed laptop adds nothing.
"""

from datetime import timedelta

from holdfast.models.jobs.work_limit import WorkLimit
from holdfast.models.strategies.job_strategy import Strategy

_LEAST = timedelta(seconds=1)
"""The limit of a step that starts just before its agent's time is over."""
_LEAST_FOR_CONCLUSION = timedelta(minutes=1)
"""The least time in which an agent whose time is over answers with what it has."""


def activity_limit(strategy: Strategy) -> WorkLimit:
    """Return the limit of an activity that calls models or tools."""
    return WorkLimit(
        setting="task_patience",
        value=strategy.task_patience,
        total=strategy.task_patience,
        attempt=strategy.task_timeout,
    )


def step_limit(strategy: Strategy, agent_worked_s: float) -> WorkLimit:
    """Return the limit of an agent's step, or of the turn in which the agent decides on its steps.

    It is what the agent has left, at most the task's patience.
    """
    return _agent_limit(
        strategy, max(strategy.agent_timeout - timedelta(seconds=agent_worked_s), _LEAST)
    )


def concluding_limit(strategy: Strategy) -> WorkLimit:
    """Return the limit of the turn in which an agent that reached a limit gives its result."""
    return _agent_limit(strategy, max(strategy.agent_timeout, _LEAST_FOR_CONCLUSION))


def _agent_limit(strategy: Strategy, left: timedelta) -> WorkLimit:
    if left >= strategy.task_patience:
        return activity_limit(strategy)
    return WorkLimit(
        setting="agent_timeout",
        value=strategy.agent_timeout,
        total=left,
        attempt=strategy.task_timeout,
    )
