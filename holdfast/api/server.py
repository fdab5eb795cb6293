"""The HTTP server: bound before it says where, ended by a signal with its streams."""

import ipaddress
import signal
import socket
from datetime import timedelta
from types import FrameType

import uvicorn

from holdfast.api.app import Api, application
from holdfast.api.events import READS_WITHIN
from holdfast.api.following import LOOK_EVERY, Following
from holdfast.client import Holdfast
from models.errors import BadInput

_LEAVES_WITHIN_S = 5


class Server(uvicorn.Server):
    """Ends in order at the first signal, and at once at the second."""

    def __init__(self, config: uvicorn.Config, following: Following) -> None:
        super().__init__(config)
        self._following = following

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:  # noqa: ARG002 - uvicorn's
        # Not noted as uvicorn does, which would raise the signal again once all is closed.
        self.force_exit = self.should_exit and sig == signal.SIGINT
        self.should_exit = True

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        # A stream has no end of its own while its job runs.
        self._following.close()
        await super().shutdown(sockets)


def bound(host: str, port: int) -> socket.socket:
    """A listening socket; port 0 takes a free one.

    Raises:
        BadInput: the host is none of this computer's, or the port is taken.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listening = socket.socket(family, kind, protocol)
    except (OSError, UnicodeError) as error:
        raise BadInput(f"--host {host!r} leads nowhere ({error}); give an address") from error
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(128)
    except OSError as error:
        listening.close()
        raise BadInput(
            f"cannot listen at {host!r}, port {port}: {error.strerror}; give another --host or "
            "--port (0 takes a free port)"
        ) from error
    return listening


def address_of(listening: socket.socket) -> str:
    """Where it can be reached: `http://127.0.0.1:8765`."""
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def is_loopback(listening: socket.socket) -> bool:
    """Whether this computer alone can reach it."""
    return ipaddress.ip_address(listening.getsockname()[0].partition("%")[0]).is_loopback


def server(
    holdfast: Holdfast,
    listening: socket.socket,
    *,
    look_every: timedelta = LOOK_EVERY,
    reads_within: timedelta = READS_WITHIN,
) -> tuple[Server, Following]:
    """A server of this installation's jobs, to be started with `serve(sockets=[listening])`."""
    following = Following(holdfast.db, look_every=look_every)
    app = application(Api(holdfast, following, reads_within), _names(listening))
    config = uvicorn.Config(
        app, log_config=None, access_log=False, server_header=False, lifespan="off", ws="none",
        timeout_graceful_shutdown=_LEAVES_WITHIN_S,
    )  # fmt: skip
    return Server(config, following), following


def _names(listening: socket.socket) -> frozenset[str] | None:
    """What those call it who may ask it; none where others may, under names that nobody knows."""
    if not is_loopback(listening):
        return None
    return frozenset({"localhost", "127.0.0.1", "::1", listening.getsockname()[0]})
