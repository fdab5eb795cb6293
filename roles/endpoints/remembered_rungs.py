"""Remember which way of asking for JSON an endpoint took, for each model and role."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

REMEMBERED_S = 3600.0
"""Seconds after which the strictest way is tried once more: endpoints learn, and schemas differ."""


@dataclass
class RememberedRungs:
    """How far down the ladder each model and role had to go, for an hour."""

    clock: Callable[[], float] = time.monotonic
    _rungs: dict[tuple[str, str, bool], tuple[int, float]] = field(default_factory=dict)

    def first(self, model: str, role: str, *, has_functions: bool) -> int:
        """Return the number of the first rung to try, from 0."""
        rung, until = self._rungs.get((model, role, has_functions), (0, 0.0))
        return rung if self.clock() < until else 0

    def remember(self, model: str, role: str, rung: int, *, has_functions: bool) -> None:
        """Note the rung that the endpoint took; another call may have gone further meanwhile."""
        further = max(rung, self.first(model, role, has_functions=has_functions))
        self._rungs[model, role, has_functions] = (further, self.clock() + REMEMBERED_S)
