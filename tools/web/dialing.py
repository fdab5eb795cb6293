"""Connects to names by addresses that were checked: one look-up, and what it gave is dialled.

The connection pool asks this backend for every new connection, whoever wants it, so there is no
way round the check. TLS still speaks to the name: SNI and the certificate are of the host asked.
"""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Iterable, Sequence

import httpcore2

from models.errors import ToolBusy, ToolFailed
from tools.web.addresses import Allowed, is_address, refusal

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]
"""From a name and a port to all its IP addresses; raises `socket.gaierror`."""

_MOST_TRIED = 3


async def system_resolve(host: str, port: int) -> Sequence[str]:
    """What the system's resolver says, each address once."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return tuple(dict.fromkeys(str(place[0]) for *_, place in found))


class GuardedBackend(httpcore2.AnyIOBackend):
    """Dials what is public, or what the operator allowed, and nothing else."""

    def __init__(self, allowed: Allowed, resolve: Resolve = system_resolve) -> None:
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
        """A connection to one of the host's addresses.

        Raises:
            ToolFailed: there is no such host, or an address of it is refused.
            ToolBusy: the name cannot be looked up for now.
            httpcore2.ConnectError: none of them takes the connection.
            httpcore2.ConnectTimeout: the same, in time.
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
        """Never: nothing on the web is a socket of this machine."""
        raise ToolFailed(f"{path!r} is not on the web")

    async def _checked(self, host: str, port: int) -> Sequence[str]:
        answers = (host,) if is_address(host) else await self._looked_up(host, port)
        is_named = self._allowed.names(host, port)
        for answer in answers:
            # One refused answer refuses the name: an honest one has no private address beside.
            if why := refusal(answer, is_named=is_named):
                raise ToolFailed(
                    f"{host} is not fetched: {why}. If it is yours, the operator may write "
                    f'allow_hosts = ["{host}"] below [web] in holdfast.toml'
                )
        return answers[:_MOST_TRIED]

    async def _looked_up(self, host: str, port: int) -> Sequence[str]:
        try:
            return await self._resolve(host, port)
        except socket.gaierror as error:
            if error.errno in {socket.EAI_AGAIN, getattr(socket, "EAI_SYSTEM", None)}:
                raise ToolBusy(f"{host} cannot be looked up for now") from error
            raise ToolFailed(f"there is no host {host!r}: check the address") from error
        except UnicodeError as error:
            raise ToolFailed(f"there is no host {host!r}: check the address") from error
