"""Run the page's server of a home folder as a process: `python -m holdfast.web.page_process`."""

import asyncio
import os
import socket
import sys
from pathlib import Path

from holdfast.api.http_server import address_of, build_server, listening_socket
from holdfast.client import open_client
from holdfast.configuration.json_logs import configure_logs
from holdfast.mcp_server.http_endpoint import add_mcp
from holdfast.models.errors import BadInput, HoldfastError
from holdfast.services.detached_processes import find_process
from holdfast.services.launch.page_server import PageServer, last_port, record_page_server
from holdfast.services.service_lifecycle import attach_to_services
from holdfast.services.worker.environment_block import hide_environment
from holdfast.settings import load_settings
from holdfast.web.page_routes import add_page

_HOST = "127.0.0.1"
_USUAL_PORT = 8765


def main(home: Path, settings_mark: str) -> None:
    """Serve the API, MCP and the page until a signal."""
    # Else the MCP SDK configures logs, as in `holdfast serve`. Before the environment is hidden, so
    # that the logs know which of its values are secret.
    configure_logs("WARNING")
    hide_environment()
    listening = _listening(home)
    try:
        asyncio.run(_serve(home, settings_mark, listening))
    finally:
        listening.close()


async def _serve(home: Path, settings_mark: str, listening: socket.socket) -> None:
    settings = load_settings().model_copy(update={"home": home})
    endpoints = await attach_to_services(settings, needs_temporal=False)
    async with open_client(settings, endpoints) as holdfast:
        server, _ = build_server(holdfast, listening, faces=(add_page, add_mcp))
        this_process = find_process(os.getpid())
        assert this_process is not None, "this process runs"
        record_page_server(
            home,
            PageServer(
                process=this_process, url=address_of(listening), settings_mark=settings_mark
            ),
        )
        await server.serve(sockets=[listening])


def _listening(home: Path) -> socket.socket:
    """A socket at the port of the last time, at the usual port, or at a free one."""
    for port in dict.fromkeys((last_port(home) or _USUAL_PORT, _USUAL_PORT)):
        try:
            return listening_socket(_HOST, port)
        except BadInput:
            continue
    return listening_socket(_HOST, 0)


if __name__ == "__main__":
    try:
        main(Path(sys.argv[1]), sys.argv[2])
    except HoldfastError as error:
        sys.exit(f"{type(error).__name__}: {error}")
