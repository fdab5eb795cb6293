"""Bound how many streams are open at once, in total and for each caller.

A stream holds a connection and a task for as long as its job runs, so that followers without a
limit would starve all other requests of the server.
"""

from collections import Counter
from dataclasses import dataclass, field

from holdfast.api.access.access_errors import TooManyRequests
from holdfast.api.access.callers import Caller

_AGAIN_AFTER_S = 30


@dataclass
class StreamSlots:
    """Counts the open streams of one server by caller."""

    total: int
    per_key: int
    _open: Counter[str] = field(default_factory=Counter)

    @property
    def open(self) -> int:
        """How many streams are open."""
        return self._open.total()

    def take(self, caller: Caller) -> "StreamSlot":
        """Count one more stream of the caller, until the slot is given back.

        Raises:
            TooManyRequests: the server or the caller's key has as many streams as it may have.
        """
        # The installation's own token has no limit but the total: the page shares it.
        of_caller = self._open[caller.key_id]
        if caller.key_id and of_caller >= self.per_key:
            raise TooManyRequests(
                f"this key has {of_caller:,} open streams, which is the most that a key may have; "
                "close one, or follow several jobs by GET /v1/jobs",
                after_s=_AGAIN_AFTER_S,
            )
        if self.open >= self.total:
            raise TooManyRequests(
                f"the server has {self.total:,} open streams and takes no more; try again later, "
                "or ask for the job's status",
                after_s=_AGAIN_AFTER_S,
            )
        self._open[caller.key_id] += 1
        return StreamSlot(self._open, caller.key_id)


@dataclass
class StreamSlot:
    """One open stream."""

    _counts: Counter[str]
    _key: str

    def give_back(self) -> None:
        """Let another stream be opened; to be called once."""
        self._counts[self._key] -= 1
        if not self._counts[self._key]:
            del self._counts[self._key]
