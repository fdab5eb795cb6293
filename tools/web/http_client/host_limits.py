"""Limit how often one host is requested, and pause requests to a host that fails."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from holdfast.models.errors import ToolBusy, ToolFailed

REQUESTS_PER_HOST = 2
_MAX_HOSTS = 2_000
_MAX_REST_S = 600.0
"""Seconds; a host that asks for a longer pause is given up."""
_MAX_DELAY_S = 10.0
_MAX_STRIKES = 4
_GIVEN_UP_S = 60.0
_FORGET_S = 600.0


@dataclass
class _HostState:
    """The state of one host; times are of the monotonic clock."""

    places: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(REQUESTS_PER_HOST))
    next_at: float = 0
    closed_until: float = 0
    delay_s: float = 0
    failure_count: int = 0
    last_failure_at: float = 0
    is_given_up: bool = False
    """Return True if requests must not wait for this host."""
    pending_requests: int = 0


class HostLimits:
    """Limits requests per host: two at once, `delay_s` apart, none during a pause.

    A host that fails repeatedly is given up, so that no request waits for hours.
    """

    def __init__(self, delay_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._delay_s = delay_s
        self._clock = clock
        self._hosts: OrderedDict[str, _HostState] = OrderedDict()

    @asynccontextmanager
    async def turn(self, name: str) -> AsyncIterator[None]:
        """Wait for permission to send one request to the host.

        Raises:
            ToolBusy: the host asked for a short pause.
            ToolFailed: the host asked for a long pause or is given up.
        """
        host = self._of(name)
        host.pending_requests += 1
        try:
            async with host.places:
                self._check(name, host)
                await self._pause(host)
                yield
        finally:
            host.pending_requests -= 1

    def slow_down(self, name: str, delay_s: float) -> None:
        """Set the minimum pause between two requests that the host's robots.txt demands."""
        self._of(name).delay_s = min(delay_s, _MAX_DELAY_S)

    def record_success(self, name: str) -> None:
        """Record that the host answered."""
        host = self._of(name)
        host.failure_count, host.is_given_up = 0, False

    def record_failure(self, name: str, why: str, rest_s: float = 0) -> ToolBusy | ToolFailed:
        """Record a failure; return ToolBusy, or ToolFailed after too many or too long failures."""
        host, now = self._of(name), self._clock()
        if now - host.last_failure_at > _FORGET_S:
            host.failure_count = 0
        host.failure_count += 1
        host.last_failure_at = now
        if host.failure_count >= _MAX_STRIKES:
            # Else all waiting requests would run into the same timeout one after the other.
            rest_s = max(rest_s, _GIVEN_UP_S)
            why = f"{why}, {host.failure_count} times in a row"
        elif rest_s > _MAX_REST_S:
            why = f"{why}, for {rest_s:.0f} s"
        host.is_given_up = host.failure_count >= _MAX_STRIKES or rest_s > _MAX_REST_S
        host.closed_until = now + min(rest_s, _MAX_REST_S)
        return _error(why, host)

    def _check(self, name: str, host: _HostState) -> None:
        left = host.closed_until - self._clock()
        if left > 0:
            raise _error(f"{name} is to be left alone for another {left:.0f} s", host)

    async def _pause(self, host: _HostState) -> None:
        delay_s = max(self._delay_s, host.delay_s)
        now = self._clock()
        starts_at = max(now, host.next_at)
        host.next_at = starts_at + delay_s
        if starts_at > now:
            await asyncio.sleep(starts_at - now)

    def _of(self, name: str) -> _HostState:
        host = self._hosts.setdefault(name, _HostState())
        self._hosts.move_to_end(name)
        if len(self._hosts) > _MAX_HOSTS:
            oldest = next(
                (key for key, each in self._hosts.items() if not each.pending_requests), None
            )
            if oldest is not None and oldest != name:
                del self._hosts[oldest]
        return host


def _error(why: str, host: _HostState) -> ToolBusy | ToolFailed:
    return ToolFailed(f"{why}: use another source") if host.is_given_up else ToolBusy(why)


def retry_after_seconds(retry_after: str, now: datetime | None = None) -> float:
    """Return the seconds of a `Retry-After` header; 0 if it is invalid."""
    value = retry_after.strip()
    if value.isascii() and value.isdigit():
        return float(value[:9])
    try:
        until = parsedate_to_datetime(value)
    except (ValueError, TypeError, IndexError, OverflowError):
        return 0
    if until.tzinfo is None:
        until = until.replace(tzinfo=UTC)
    return max(0.0, (until - (now or datetime.now(UTC))).total_seconds())
