"""Send a request when the host's limits allow it; tell temporary from permanent failures."""

from dataclasses import dataclass

from holdfast.models.errors import ToolBusy
from holdfast.tools.web.http_client.host_limits import HostLimits, retry_after_seconds
from holdfast.tools.web.http_client.http_exchange import HttpClient, HttpReply, HttpRequest

_PASSING = frozenset({408, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524})


@dataclass(frozen=True)
class PoliteClient:
    """An HTTP client that respects the limits of each host."""

    http_client: HttpClient
    hosts: HostLimits

    async def visit(self, request: HttpRequest) -> HttpReply:
        """Return the host's answer; its status is never a temporary failure.

        Raises:
            ToolBusy: the host is busy, unavailable or slow; the request may work later.
            ToolFailed: the host fails repeatedly, or `HttpClient.send` refuses the request.
        """
        host = request.target.host_and_port
        async with self.hosts.turn(host):
            try:
                reply = await self.http_client.send(request)
            except ToolBusy as error:
                raise self.hosts.record_failure(host, str(error)) from error
        if reply.status in _PASSING:
            rest_s = retry_after_seconds(reply.headers.get("retry-after", ""))
            raise self.hosts.record_failure(host, f"{host} answers {reply.status}", rest_s)
        self.hosts.record_success(host)
        return reply
