"""Notice within a minute that the other side of a silent connection is gone."""

import socket
from typing import Any

import httpx2

_KEEP_ALIVE = {
    # Linux; macOS has the first one as TCP_KEEPALIVE.
    "TCP_KEEPIDLE": 20,
    "TCP_KEEPALIVE": 20,
    "TCP_KEEPINTVL": 10,
    "TCP_KEEPCNT": 3,
    # Milliseconds until data that nobody has confirmed ends the connection.
    "TCP_USER_TIMEOUT": 60_000,
}
"""Options by name: silent for 20 s, then asked three times, every 10 s."""
_CONNECTED = "connection.connect_tcp.complete"


async def watch_connection(request: httpx2.Request) -> None:
    """Let the system watch the connection that is opened for the request, if it opens one."""
    request.extensions["trace"] = _watch


async def _watch(event: str, info: dict[str, Any]) -> None:
    if event == _CONNECTED and (connected := info["return_value"].get_extra_info("socket")):
        connected.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for name, value in _KEEP_ALIVE.items():
            if (option := getattr(socket, name, None)) is not None:
                connected.setsockopt(socket.IPPROTO_TCP, option, value)
