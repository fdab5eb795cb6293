"""Connect to a host only through IP addresses that passed the address rules.

The connection pool opens every connection through this backend, so no request can bypass the
check. TLS still uses the name: SNI and the certificate belong to the requested host.
"""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Iterable, Sequence

import httpcore2

from holdfast.models.errors import ToolBusy, ToolFailed
from holdfast.tools.web.http_client.address_rules import (
    AllowedHosts,
    ip_refusal_reason,
    is_ip_address,
)

ResolveHost = Callable[[str, int], Awaitable[Sequence[str]]]
"""Returns all IP addresses of a host and port; raises `socket.gaierror`."""

_MAX_ATTEMPTS = 3


async def system_resolve(host: str, port: int) -> Sequence[str]:
    """Return the distinct addresses from the system's resolver."""
    loop = asyncio.get_running_loop()
    answers = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return tuple(dict.fromkeys(str(place[0]) for *_, place in answers))


class GuardedBackend(httpcore2.AnyIOBackend):
    """Connects only to public addresses and to hosts that the operator allowed."""

    def __init__(self, allowed: AllowedHosts, resolve: ResolveHost = system_resolve) -> None:
        self._allowed = allowed
        self._resolve = resolve

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - as httpcore2 has it
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """Connect to one of the host's addresses.

        Raises:
            ToolFailed: the host does not exist, or one of its addresses is refused.
            ToolBusy: the name cannot be resolved for now.
            httpcore2.ConnectError: no address accepts the connection.
            httpcore2.ConnectTimeout: no address accepts the connection in time.
        """
        answers = await self._checked(host, port)
        for number, answer in enumerate(answers, start=1):
            try:
                return await super().connect_tcp(
                    answer, port, timeout, local_address, socket_options
                )
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout):
                if number == len(answers):
                    raise
        raise ToolFailed(f"{host} has no address")

    async def connect_unix_socket(
        self,
        path: str,
        timeout: float | None = None,  # noqa: ARG002, ASYNC109 - as httpcore2 has it
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,  # noqa: ARG002
    ) -> httpcore2.AsyncNetworkStream:
        """Always raise: no web page is at a Unix socket."""
        raise ToolFailed(f"{path!r} is not on the web")

    async def _checked(self, host: str, port: int) -> Sequence[str]:
        answers = (host,) if is_ip_address(host) else await self._looked_up(host, port)
        is_named = self._allowed.names(host, port)
        for answer in answers:
            # One refused address refuses the name: an honest host has no private addresses as well.
            if why := ip_refusal_reason(answer, is_named=is_named):
                raise ToolFailed(
                    f"{host} is not fetched: {why}. If it is yours, the operator may write "
                    f'allow_hosts = ["{host}"] below [{self._allowed.table}] in '
                    "holdfast.toml, which workers read when they start"
                )
        return answers[:_MAX_ATTEMPTS]

    async def _looked_up(self, host: str, port: int) -> Sequence[str]:
        try:
            return await self._resolve(host, port)
        except socket.gaierror as error:
            if error.errno in {socket.EAI_AGAIN, getattr(socket, "EAI_SYSTEM", None)}:
                raise ToolBusy(f"{host} cannot be looked up for now") from error
            raise ToolFailed(f"there is no host {host!r}: check the address") from error
        except UnicodeError as error:
            raise ToolFailed(f"there is no host {host!r}: check the address") from error
