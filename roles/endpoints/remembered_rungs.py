"""Remember which way of asking an endpoint took, for each model and kind of request."""

import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field

REMEMBERED_S = 3600.0
"""Seconds after which the best way is tried once more: endpoints learn, and schemas differ."""


@dataclass
class RememberedRungs:
    """How far down the ladder each kind of request had to go, for an hour.

    The caller says what makes a kind, such as the model and the role.
    """

    clock: Callable[[], float] = time.monotonic
    _rungs: dict[Hashable, tuple[int, float]] = field(default_factory=dict)

    def first(self, kind: Hashable) -> int:
        """Return the number of the first rung to try, from 0."""
        rung, until = self._rungs.get(kind, (0, 0.0))
        return rung if self.clock() < until else 0

    def remember(self, kind: Hashable, rung: int) -> None:
        """Note the rung that the endpoint took; another call may have gone further meanwhile."""
        self._rungs[kind] = (max(rung, self.first(kind)), self.clock() + REMEMBERED_S)
