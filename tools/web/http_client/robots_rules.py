"""Check an address against the robots.txt of its host (RFC 9309), with a cache."""

import time
from collections import OrderedDict
from collections.abc import Callable

from protego import Protego

from holdfast.models.errors import ToolFailed
from holdfast.tools.web.http_client.address_rules import RequestTarget, resolve_redirect
from holdfast.tools.web.http_client.host_limited_client import PoliteClient
from holdfast.tools.web.http_client.http_exchange import HttpRequest

ROBOTS_AGENT = "holdfast"
_LIFETIME_S = 3600.0
_MAX_ORIGINS = 1_000
_MAX_BYTES = 500 * 1024  # the minimum size that RFC 9309 requires readers to accept
_MAX_HOPS = 5
_REDIRECTS = frozenset({301, 302, 303, 307, 308})


class RobotsRules:
    """A cache of the robots.txt rules of each origin."""

    def __init__(self, visitor: PoliteClient, clock: Callable[[], float] = time.monotonic) -> None:
        self._visitor = visitor
        self._clock = clock
        self._known: OrderedDict[str, tuple[float, Protego]] = OrderedDict()

    async def check(self, target: RequestTarget) -> None:
        """Check that the host's robots.txt allows reading the target.

        Raises:
            ToolFailed: robots.txt forbids the target; the message says what to do.
            ToolBusy: robots.txt is unavailable for now.
        """
        rules = await self._rules(target)
        if not rules.can_fetch(target.address, ROBOTS_AGENT):
            raise ToolFailed(
                f"{target.address[:300]} is not fetched: the robots.txt of {target.host} does not "
                'let programs read it. Use another source; the operator may write robots = "ignore"'
            )

    async def _rules(self, target: RequestTarget) -> Protego:
        cached = self._known.get(target.origin)
        if cached and self._clock() - cached[0] < _LIFETIME_S:
            return cached[1]
        rules = Protego.parse(await self._text(target))
        self._known[target.origin] = (self._clock(), rules)
        if len(self._known) > _MAX_ORIGINS:
            self._known.popitem(last=False)
        delay_s = rules.crawl_delay(ROBOTS_AGENT)
        if delay_s and delay_s > 0:
            self._visitor.hosts.slow_down(target.host_and_port, delay_s)
        return rules

    async def _text(self, target: RequestTarget) -> str:
        """Return the host's robots.txt; empty, which allows everything, if the host has none."""
        at = target._replace(path="/robots.txt")
        for _ in range(_MAX_HOPS + 1):
            reply = await self._visitor.visit(HttpRequest(at, max_bytes=_MAX_BYTES))
            if reply.status == 200:
                return reply.body.decode("utf-8", "replace")
            if reply.status not in _REDIRECTS:
                return ""
            try:
                at = resolve_redirect(
                    at, reply.headers.get("location", ""), self._visitor.http_client.allowed
                )
            except ToolFailed:
                return ""  # the redirect leads to a refused address: the same as no robots.txt
        return ""
