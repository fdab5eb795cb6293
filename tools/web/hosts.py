"""Politeness: how often one host is asked, and when it is left alone."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from models.errors import ToolBusy, ToolFailed

AT_ONCE = 2
_MOST_HOSTS = 2_000
_LONGEST_REST_S = 600.0
"""A host that wants to be left alone for longer is given up for now."""
_LONGEST_DELAY_S = 10.0
_MOST_STRIKES = 4
_GIVEN_UP_S = 60.0
_FORGET_S = 600.0


@dataclass
class _Host:
    """What is known of one host; times are of the monotonic clock."""

    places: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(AT_ONCE))
    next_at: float = 0
    closed_until: float = 0
    delay_s: float = 0
    strikes: int = 0
    struck_at: float = 0
    gives_up: bool = False
    """Whether nobody should wait for it."""
    guests: int = 0


class Hosts:
    """Gives turns at each host: two at once, `delay_s` between them, none while it rests.

    A host that fails again and again is given up, so that nobody waits for it for hours.
    """

    def __init__(self, delay_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._delay_s = delay_s
        self._clock = clock
        self._hosts: OrderedDict[str, _Host] = OrderedDict()

    @asynccontextmanager
    async def turn(self, name: str) -> AsyncIterator[None]:
        """A turn at the host, when it comes.

        Raises:
            ToolBusy: the host asked to be left alone, and that passes soon.
            ToolFailed: the same, and it does not.
        """
        host = self._of(name)
        host.guests += 1
        try:
            async with host.places:
                self._check(name, host)
                await self._pause(host)
                yield
        finally:
            host.guests -= 1

    def slow_down(self, name: str, delay_s: float) -> None:
        """Pause at least so long between two requests, as the host's robots.txt says."""
        self._of(name).delay_s = min(delay_s, _LONGEST_DELAY_S)

    def fine(self, name: str) -> None:
        """The host answered."""
        host = self._of(name)
        host.strikes, host.gives_up = 0, False

    def struck(self, name: str, why: str, rest_s: float = 0) -> ToolBusy | ToolFailed:
        """The error for a failure that passes; for one too many, or one that takes too long."""
        host, now = self._of(name), self._clock()
        if now - host.struck_at > _FORGET_S:
            host.strikes = 0
        host.strikes += 1
        host.struck_at = now
        if host.strikes >= _MOST_STRIKES:
            # Else all that wait for a turn would find out one after the other, and in full.
            rest_s = max(rest_s, _GIVEN_UP_S)
            why = f"{why}, {host.strikes} times in a row"
        elif rest_s > _LONGEST_REST_S:
            why = f"{why}, for {rest_s:.0f} s"
        host.gives_up = host.strikes >= _MOST_STRIKES or rest_s > _LONGEST_REST_S
        host.closed_until = now + min(rest_s, _LONGEST_REST_S)
        return _error(why, host)

    def _check(self, name: str, host: _Host) -> None:
        left = host.closed_until - self._clock()
        if left > 0:
            raise _error(f"{name} is to be left alone for another {left:.0f} s", host)

    async def _pause(self, host: _Host) -> None:
        delay_s = max(self._delay_s, host.delay_s)
        now = self._clock()
        starts_at = max(now, host.next_at)
        host.next_at = starts_at + delay_s
        if starts_at > now:
            await asyncio.sleep(starts_at - now)

    def _of(self, name: str) -> _Host:
        host = self._hosts.setdefault(name, _Host())
        self._hosts.move_to_end(name)
        if len(self._hosts) > _MOST_HOSTS:
            oldest = next((key for key, each in self._hosts.items() if not each.guests), None)
            if oldest is not None and oldest != name:
                del self._hosts[oldest]
        return host


def _error(why: str, host: _Host) -> ToolBusy | ToolFailed:
    return ToolFailed(f"{why}: use another source") if host.gives_up else ToolBusy(why)


def rest_of(retry_after: str, now: datetime | None = None) -> float:
    """How many seconds a `Retry-After` means; 0 if it says nothing that can be read."""
    said = retry_after.strip()
    if said.isascii() and said.isdigit():
        return float(said[:9])
    try:
        until = parsedate_to_datetime(said)
    except (ValueError, TypeError, IndexError, OverflowError):
        return 0
    if until.tzinfo is None:
        until = until.replace(tzinfo=UTC)
    return max(0.0, (until - (now or datetime.now(UTC))).total_seconds())
