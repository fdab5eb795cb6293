"""What robots.txt lets Holdfast read, as RFC 9309 has it; asked once an hour and host."""

import time
from collections import OrderedDict
from collections.abc import Callable

from protego import Protego

from models.errors import ToolFailed
from tools.web.addresses import Target, joined
from tools.web.exchange import Request
from tools.web.visiting import Visitor

AGENT = "holdfast"
_LIFETIME_S = 3600.0
_MOST = 1_000
_MAX_BYTES = 500 * 1024  # the least that RFC 9309 has every reader take
_MOST_HOPS = 5
_REDIRECTS = frozenset({301, 302, 303, 307, 308})


class Robots:
    """The rules of the hosts that were met."""

    def __init__(self, visitor: Visitor, clock: Callable[[], float] = time.monotonic) -> None:
        self._visitor = visitor
        self._clock = clock
        self._known: OrderedDict[str, tuple[float, Protego]] = OrderedDict()

    async def check(self, target: Target) -> None:
        """Refuses what the host does not want read by programs.

        Raises:
            ToolFailed: its robots.txt says no; names the way out.
            ToolBusy: its robots.txt cannot be had for now.
        """
        rules = await self._rules(target)
        if not rules.can_fetch(target.address, AGENT):
            raise ToolFailed(
                f"{target.address[:300]} is not fetched: the robots.txt of {target.host} does not "
                'let programs read it. Use another source; the operator may write robots = "ignore"'
            )

    async def _rules(self, target: Target) -> Protego:
        known = self._known.get(target.origin)
        if known and self._clock() - known[0] < _LIFETIME_S:
            return known[1]
        rules = Protego.parse(await self._text(target))
        self._known[target.origin] = (self._clock(), rules)
        if len(self._known) > _MOST:
            self._known.popitem(last=False)
        delay_s = rules.crawl_delay(AGENT)
        if delay_s and delay_s > 0:
            self._visitor.hosts.slow_down(target.host_and_port, delay_s)
        return rules

    async def _text(self, target: Target) -> str:
        """The host's robots.txt; empty where it has none, which lets everything be read."""
        at = target._replace(path="/robots.txt")
        for _ in range(_MOST_HOPS + 1):
            reply = await self._visitor.visit(Request(at, max_bytes=_MAX_BYTES))
            if reply.status == 200:
                return reply.body.decode("utf-8", "replace")
            if reply.status not in _REDIRECTS:
                return ""
            try:
                at = joined(at, reply.headers.get("location", ""), self._visitor.wire.allowed)
            except ToolFailed:
                return ""  # it leads nowhere that is read: the same as none
        return ""
