"""A polite exchange: the host's turn is waited for, and failures that pass are told apart."""

from dataclasses import dataclass

from models.errors import ToolBusy
from tools.web.exchange import Reply, Request, Wire
from tools.web.hosts import Hosts, rest_of

_PASSING = frozenset({408, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524})


@dataclass(frozen=True)
class Visitor:
    """A wire with manners."""

    wire: Wire
    hosts: Hosts

    async def visit(self, request: Request) -> Reply:
        """The host's answer, of a status that will not pass by itself.

        Raises:
            ToolBusy: it is busy, away or slow, and the same request may work later.
            ToolFailed: it is so again and again; or what `Wire.send` refuses.
        """
        host = request.target.host_and_port
        async with self.hosts.turn(host):
            try:
                reply = await self.wire.send(request)
            except ToolBusy as error:
                raise self.hosts.struck(host, str(error)) from error
        if reply.status in _PASSING:
            rest_s = rest_of(reply.headers.get("retry-after", ""))
            raise self.hosts.struck(host, f"{host} answers {reply.status}", rest_s)
        self.hosts.fine(host)
        return reply
