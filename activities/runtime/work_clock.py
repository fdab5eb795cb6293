"""Count the time that workers spend on one activity, whatever the clocks of the machine do.

The time is counted in ticks: pauses of at most two seconds, each followed by a heartbeat that
carries the sum to the next attempt. A tick counts for what it lasted, and at most for its planned
length. So a machine that sleeps, a process that is stopped and a clock that jumps add nothing. A
tick in which PostgreSQL or Temporal was away does not count, and neither does what a worker did
between its last heartbeat and its death.

An error that passes also counts the pause before the next attempt: otherwise a model that refuses
every call at once would be asked for ever.
"""

import time
from collections.abc import Callable
from datetime import timedelta

from holdfast.models.errors import AttemptTimeOver, Passing, WorkTimeOver
from holdfast.models.frozen_model import Frozen
from holdfast.models.jobs.work_limit import WorkLimit

_LEAST_ATTEMPT_S = 1.0
"""An attempt may always take so long, because its work may be recorded already."""

_LEAST_TICK_S = 0.001
"""A shorter tick may not change a large sum of seconds, so that the attempt never ends."""


class WorkProgress(Frozen):
    """The facts that an attempt hands to the next attempt with its heartbeats."""

    worked_s: float = 0.0
    failures: int = 0
    """The number of attempts that ended with an error that passes."""
    faults: int = 0
    """The number of attempts that ended with an error of Holdfast itself."""


class WorkClock:
    """The worked time of one attempt at an activity and of the attempts before it."""

    def __init__(
        self,
        limit: WorkLimit | None,
        before: WorkProgress,
        *,
        are_services_there: Callable[[], bool] = lambda: True,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._limit = limit
        self._attempt_ends_at_s = _attempt_end_s(limit, before.worked_s)
        self._worked_s, self._failures = before.worked_s, before.failures
        self._faults = before.faults
        self._are_services_there, self._now = are_services_there, now
        self._counted_to, self._left_of_tick_s = now(), 0.0

    def begin_tick(self, longest_s: float) -> float:
        """Begin a tick that ends at the attempt's limit at the latest; return its length."""
        self._count()
        left_s = self._attempt_ends_at_s - self._worked_s
        self._left_of_tick_s = (
            min(longest_s, max(left_s, _LEAST_TICK_S)) if left_s > 0 else longest_s
        )
        return self._left_of_tick_s

    def progress(self) -> WorkProgress:
        """Return the time worked until now, and the failures."""
        self._count()
        return WorkProgress(worked_s=self._worked_s, failures=self._failures, faults=self._faults)

    def add_fault(self) -> None:
        """Count an error of Holdfast itself."""
        self._faults += 1

    @property
    def is_over(self) -> bool:
        """True if this attempt may not go on."""
        return self._worked_s >= self._attempt_ends_at_s

    def error_of_time(self) -> WorkTimeOver | AttemptTimeOver:
        """Return the error of an attempt whose time is over."""
        assert self._limit is not None, "without a limit no time is over"
        if self._worked_s >= self._limit.total.total_seconds():
            return WorkTimeOver(self._limit.message, worked_s=self._worked_s)
        allowed_s = self._limit.attempt.total_seconds()
        return AttemptTimeOver(f"an attempt took {allowed_s:g} s (task_timeout)")

    def error_after_failure(self, error: Passing, pause: timedelta) -> WorkTimeOver | None:
        """Count the failure and the pause after it; return an error if no attempt fits behind."""
        self._count()
        worked_s = self._worked_s
        self._failures += 1
        self._worked_s += pause.total_seconds()
        if self._limit is None or self._worked_s < self._limit.total.total_seconds():
            return None
        reason = self._limit.message
        if worked_s < self._limit.total.total_seconds():
            value_s = self._limit.value.total_seconds()
            reason = (
                f"the next attempt is {pause.total_seconds():.0f} s away, "
                f"after the end of its {value_s:g} s of work ({self._limit.setting})"
            )
        return WorkTimeOver(f"{error}; {reason}", worked_s=worked_s)

    def _count(self) -> None:
        now = self._now()
        counted_s = min(max(now - self._counted_to, 0.0), self._left_of_tick_s)
        self._counted_to = now
        self._left_of_tick_s -= counted_s
        if self._are_services_there():
            self._worked_s += counted_s


def _attempt_end_s(limit: WorkLimit | None, before_s: float) -> float:
    """Return the worked time at which an attempt that begins after `before_s` must end."""
    if limit is None:
        return float("inf")
    left_s = max(limit.total.total_seconds() - before_s, _LEAST_ATTEMPT_S)
    return before_s + min(left_s, limit.attempt.total_seconds())
