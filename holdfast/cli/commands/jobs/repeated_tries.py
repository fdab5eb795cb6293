"""Say to who watches a job what is tried again, and why: no event of the job tells it."""

import re
import time
from dataclasses import dataclass, field

from holdfast.cli.render.status_lines import repeated_try_line
from holdfast.client import Holdfast
from holdfast.jobs.current_status import pending_activities
from holdfast.models.views.status_views import PendingActivity

_LOOK_INTERVAL_S = 5.0
"""Between two questions to Temporal: what lasts shorter needs no line."""
_NUMBER = re.compile(r"\d+")


@dataclass
class RepeatedTries:
    """The failed tries of a job that is watched; each failure is new once.

    Failures that differ only in numbers, such as times, are one.
    """

    holdfast: Holdfast
    job_id: str
    _next_look: float = field(default_factory=lambda: time.monotonic() + _LOOK_INTERVAL_S)
    _last: tuple[PendingActivity, ...] = ()
    _known: set[tuple[str, str]] = field(default_factory=set)

    async def lines(self) -> list[str]:
        """A line for each activity that failed and is tried again."""
        if time.monotonic() >= self._next_look:
            pending = await pending_activities(self.holdfast, self.job_id)
            self._last = tuple(each for each in pending if each.waits_for_next_try)
            self._next_look = time.monotonic() + _LOOK_INTERVAL_S
        return [repeated_try_line(each) for each in self._last]

    async def new_lines(self) -> list[str]:
        """The lines of the failures that no earlier call has returned."""
        lines = await self.lines()
        failures = [(each.what, _NUMBER.sub("", each.last_failure)) for each in self._last]
        new = [line for line, of in zip(lines, failures, strict=True) if of not in self._known]
        self._known.update(failures)
        return new
