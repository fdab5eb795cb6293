"""Decide from the pulse of a worker whether its event loop stands still.

Only the worker's own time counts: not the time of a stopped process, of a sleeping machine, of a
process that waits for the disk. A process that is ready on a busy machine has its CPU time.
"""

import time
from dataclasses import dataclass

import psutil

from holdfast.services.supervisor.loop_pulse import LoopPulse

_HALTED_STATES = frozenset(
    {psutil.STATUS_STOPPED, psutil.STATUS_TRACING_STOP, psutil.STATUS_DISK_SLEEP}
)
_ENOUGH_OWN_TIME_S = 1.0
"""A loop that runs beats in the first millisecond that it gets of a busy machine."""
_MAX_GAP_S = 3.0
"""After a longer pause between two observations, the supervisor itself was halted."""


@dataclass(frozen=True)
class Observation:
    """What a supervisor sees of its worker at one moment."""

    at_s: float
    beats: int
    cpu_s: float
    state: str


def observe(pid: int, pulse: LoopPulse) -> Observation | None:
    """Return how the worker is now; None if it has ended."""
    try:
        process = psutil.Process(pid)
        with process.oneshot():
            times, state = process.cpu_times(), process.status()
    except psutil.Error:
        return None
    return Observation(time.monotonic(), pulse.beats, times.user + times.system, state)


@dataclass
class StallWatch:
    """Add up the time of one worker since its last beat."""

    limit_s: float
    still_s: float = 0.0
    own_s: float = 0.0
    last: Observation | None = None

    def stands_still(self, now: Observation) -> bool:
        """True if the loop has not beaten for `limit_s`, of which enough was the worker's own."""
        before, self.last = self.last, now
        # Without a beat, the loop has not begun or has ended.
        if before is None or now.beats != before.beats or not now.beats:
            self.still_s = self.own_s = 0.0
        elif not _was_halted(before, now):
            passed_s = now.at_s - before.at_s
            self.still_s += passed_s
            is_ready = now.state == psutil.STATUS_RUNNING
            self.own_s += min(passed_s, now.cpu_s - before.cpu_s) if is_ready else passed_s
        return self.still_s >= self.limit_s and self.own_s >= _ENOUGH_OWN_TIME_S


def _was_halted(before: Observation, now: Observation) -> bool:
    return now.state in _HALTED_STATES or now.at_s - before.at_s > _MAX_GAP_S
