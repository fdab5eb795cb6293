"""Implement `holdfast serve`: serve the HTTP API and the page until an interrupt."""

import asyncio
import socket
import sys

from holdfast.api.http_server import address_of, build_server, is_loopback, listening_socket
from holdfast.cli.installation_access import open_installation
from holdfast.cli.render.terminal_output import print_json, print_progress, print_text
from holdfast.mcp_server.http_endpoint import add_mcp
from holdfast.web.page_address import signing_in_address
from holdfast.web.page_routes import add_page


def serve_command(host: str, port: int, *, json_output: bool) -> None:
    """Serve until an interrupt."""
    listening = listening_socket(host, port)
    try:
        asyncio.run(_run_server(listening, json_output=json_output))
    finally:
        listening.close()


async def _run_server(listening: socket.socket, *, json_output: bool) -> None:
    async with open_installation(needs_temporal=False) as holdfast:
        serving, _ = build_server(holdfast, listening, faces=(add_page, add_mcp))
        _print_address(listening, json_output=json_output)
        page = signing_in_address(holdfast.settings, address_of(listening))
        print_progress(f"page: {page}")
        await serving.serve(sockets=[listening])


def _print_address(listening: socket.socket, *, json_output: bool) -> None:
    address = address_of(listening)
    if not is_loopback(listening):
        print_progress(
            "warning: other computers can reach this address, and keys pass the network "
            "unencrypted; put a proxy with TLS in front of it"
        )
    if json_output:
        print_json({"url": address})
    else:
        print_text(address)
    # A program that started this through a pipe waits for the address.
    sys.stdout.flush()
    print_progress("Ctrl-C ends the server; jobs continue")
