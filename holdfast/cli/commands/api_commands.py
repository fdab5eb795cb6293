"""Implement `holdfast serve`: serve the HTTP API and the page until an interrupt."""

import asyncio
import errno
import socket
import sys
from pathlib import Path

from holdfast.api.http_server import (
    Certificate,
    address_of,
    build_server,
    is_loopback,
    listening_socket,
)
from holdfast.cli.installation_access import open_installation
from holdfast.cli.render.terminal_output import print_json, print_progress, print_text
from holdfast.configuration.json_logs import configure_logs
from holdfast.mcp_server.http_endpoint import add_mcp
from holdfast.models.errors import BadInput
from holdfast.services.launch.page_server import running_page_server
from holdfast.settings import load_settings
from holdfast.web.page_address import signing_in_address
from holdfast.web.page_routes import add_page


def serve_command(
    host: str,
    port: int,
    certificate: Path | None,
    certificate_key: Path | None,
    root_path: str | None,
    *,
    json_output: bool,
) -> None:
    """Serve until an interrupt."""
    # Else the MCP SDK configures logs: a failed request then prints the variables of every frame,
    # which may be secret, and for minutes nobody is answered.
    configure_logs("WARNING")
    files = _certificate(certificate, certificate_key)
    listening = _listening_socket(host, port)
    try:
        asyncio.run(_run_server(listening, files, root_path, json_output=json_output))
    finally:
        listening.close()


def _listening_socket(host: str, port: int) -> socket.socket:
    """The socket; if the page's server of this installation has the port, the refusal says so."""
    try:
        return listening_socket(host, port)
    except BadInput as error:
        cause = error.__cause__
        is_taken = isinstance(cause, OSError) and cause.errno == errno.EADDRINUSE
        page = running_page_server(load_settings().home) if is_taken else None
        if page is None or page.port != port:
            raise
        raise BadInput(
            f"the page's server of this installation has port {port}, and serves the same page, "
            f"API and MCP at {page.url}: use it, or give another --port (0 takes a free port)"
        ) from error


def _certificate(file: Path | None, key: Path | None) -> Certificate | None:
    if file is None and key is None:
        return None
    if file is None or key is None:
        raise BadInput("--certificate and --certificate-key belong together; give both")
    certificate = Certificate(file, key)
    certificate.check()
    return certificate


async def _run_server(
    listening: socket.socket,
    certificate: Certificate | None,
    root_path: str | None,
    *,
    json_output: bool,
) -> None:
    async with open_installation(needs_temporal=False) as holdfast:
        faces = (add_page, add_mcp)
        serving, _ = build_server(
            holdfast, listening, faces=faces, certificate=certificate, root_path=root_path
        )
        address = address_of(listening, is_encrypted=certificate is not None)
        if certificate is None and not is_loopback(listening):
            print_progress(
                "warning: other computers can reach this address, and keys pass the network "
                "unencrypted; give --certificate and --certificate-key, or put a proxy with TLS "
                "in front of it"
            )
        _print_address(address, json_output=json_output)
        page = signing_in_address(holdfast.settings, address)
        print_progress(f"page: {page}")
        await serving.serve(sockets=[listening])


def _print_address(address: str, *, json_output: bool) -> None:
    if json_output:
        print_json({"url": address})
    else:
        print_text(address)
    # A program that started this through a pipe waits for the address.
    sys.stdout.flush()
    print_progress("Ctrl-C ends the server; jobs continue")
