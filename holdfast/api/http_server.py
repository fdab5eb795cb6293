"""Bind the listening socket and run the HTTP server until a signal stops the server."""

import ipaddress
import signal
import socket
import ssl
from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path
from types import FrameType
from typing import NamedTuple

import uvicorn
from fastapi import FastAPI

from holdfast.api.access.authentication import Authentication
from holdfast.api.access.installation_token import make_token
from holdfast.api.access.oidc_tokens import OidcTokens
from holdfast.api.access.request_rates import RequestRates
from holdfast.api.api_context import ApiContext
from holdfast.api.application import build_application
from holdfast.api.bounded_connection import BoundedConnection
from holdfast.api.event_feed import POLL_INTERVAL, EventFeed
from holdfast.api.server_sent_events import READER_TIMEOUT
from holdfast.api.stream_slots import StreamSlots
from holdfast.client import Holdfast
from holdfast.configuration.http_settings import read_http, read_oidc
from holdfast.corpus.uploads.upload_queue import UploadQueue
from holdfast.models.access.http_config import HttpConfig, checked_root_path
from holdfast.models.errors import BadInput
from holdfast.observability.metrics_text import MetricsPage

KEEP_ALIVE_S = 75
"""How long a connection without a request stays open.

Proxies and clients use a connection again for 60 s. A server that closes the connection earlier, as
uvicorn does after 5 s, resets a request that is on its way.
"""
_SHUTDOWN_TIMEOUT_S = 5


class ApiServer(uvicorn.Server):
    """Shut down gracefully at the first signal, and immediately at the second."""

    def __init__(self, config: uvicorn.Config, following: EventFeed, uploads: UploadQueue) -> None:
        super().__init__(config)
        self._following = following
        self._uploads = uploads

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:  # noqa: ARG002 - uvicorn's
        # uvicorn would record the signal and raise it again after the shutdown.
        self.force_exit = self.should_exit and sig == signal.SIGINT
        self.should_exit = True

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._uploads.start()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        # An event stream does not end by itself while its job runs.
        self._following.close()
        await super().shutdown(sockets)
        await self._uploads.stop()


def listening_socket(host: str, port: int) -> socket.socket:
    """Return a listening socket; port 0 selects a free port.

    Raises:
        BadInput: the host is not an address of this computer, or the port is in use.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listening = socket.socket(family, kind, protocol)
    except (OSError, UnicodeError) as error:
        raise BadInput(f"--host {host!r} has no address ({error}); give another host") from error
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


class Certificate(NamedTuple):
    """The PEM files with which a server speaks TLS: the certificate with its chain, and its key."""

    file: Path
    key: Path

    def check(self) -> None:
        """Load both files as the server will.

        Raises:
            BadInput: a file cannot be read, or the two do not belong together.
        """
        try:
            ssl.create_default_context(ssl.Purpose.CLIENT_AUTH).load_cert_chain(*self)
        except OSError as error:
            raise BadInput(
                f"--certificate {str(self.file)!r} with --certificate-key {str(self.key)!r} cannot "
                f"be used ({error}); give two PEM files that belong together and that this user "
                "can read"
            ) from error


def address_of(listening: socket.socket, *, is_encrypted: bool = False) -> str:
    """Return the URL of the server, such as `http://127.0.0.1:8765`."""
    host, port = listening.getsockname()[:2]
    scheme = "https" if is_encrypted else "http"
    return f"{scheme}://[{host}]:{port}" if ":" in host else f"{scheme}://{host}:{port}"


def is_loopback(listening: socket.socket) -> bool:
    """True if only this computer can reach the server."""
    return ipaddress.ip_address(listening.getsockname()[0].partition("%")[0]).is_loopback


def build_server(
    holdfast: Holdfast,
    listening: socket.socket,
    *,
    look_every: timedelta = POLL_INTERVAL,
    reads_within: timedelta = READER_TIMEOUT,
    faces: Sequence[Callable[[FastAPI], None]] = (),
    certificate: Certificate | None = None,
    root_path: str | None = None,
) -> tuple[ApiServer, EventFeed]:
    """Build a server of this installation; start it with `serve(sockets=[listening])`.

    Each of `faces` adds its routes to those of the API. Without `root_path`, that of the table
    `[http]` counts.

    Raises:
        BadConfiguration: the table `[http]` or `[oidc]` is wrong.
        BadInput: the root path is wrong, or is the path of a page or route.
    """
    http = read_http(holdfast.settings.config_file)
    root = http.root_path if root_path is None else checked_root_path(root_path)
    following = EventFeed(holdfast.db, look_every=look_every)
    provider = read_oidc(holdfast.settings.config_file)
    token = make_token(holdfast.settings.home)
    oidc = None if provider is None else OidcTokens(provider)
    authentication = Authentication(holdfast.db, token, oidc)
    uploads = UploadQueue(holdfast.settings, holdfast.db)
    context = ApiContext(
        holdfast,
        following,
        authentication,
        RequestRates(),
        reads_within,
        uploads,
        StreamSlots(http.streams, http.streams_per_key),
        MetricsPage(holdfast.db),
    )
    app = build_application(context, _allowed_host_names(listening, http), root, http.origins)
    for add_face in faces:
        add_face(app)
    config = uvicorn.Config(
        app,
        http=BoundedConnection,
        log_config=None,
        access_log=False,
        server_header=False,
        lifespan="off",
        ws="none",
        # uvicorn itself believes every process of this computer.
        proxy_headers=bool(http.trusted_proxies),
        forwarded_allow_ips=list(http.trusted_proxies),
        ssl_certfile=certificate and certificate.file,
        ssl_keyfile=certificate and certificate.key,
        timeout_keep_alive=KEEP_ALIVE_S,
        timeout_graceful_shutdown=_SHUTDOWN_TIMEOUT_S,
    )
    return ApiServer(config, following, uploads), following


def _allowed_host_names(listening: socket.socket, http: HttpConfig) -> frozenset[str] | None:
    """Return the allowed host names; None if other computers may connect by unknown names."""
    if not is_loopback(listening) and not http.names:
        return None
    return frozenset({"localhost", "127.0.0.1", "::1", listening.getsockname()[0], *http.names})
