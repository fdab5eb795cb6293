"""Define the time in which an ended job lay idle until it was opened again."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple


class IdleSpan(NamedTuple):
    """The time from the end of a job to its next run."""

    ended_at: datetime
    reopened_at: datetime

    def seconds_between(self, begin: datetime, end: datetime) -> float:
        """Return how many seconds of this span lie between `begin` and `end`."""
        shared = min(self.reopened_at, end) - max(self.ended_at, begin)
        return max(shared.total_seconds(), 0.0)


def open_seconds(begin: datetime, end: datetime, idle: Sequence[IdleSpan]) -> float:
    """Return the seconds from `begin` to `end`, without those in which the job had ended."""
    whole = (end - begin).total_seconds()
    return whole - sum(span.seconds_between(begin, end) for span in idle)
