"""Open a connection to an MCP server in this process, as a child program, or over HTTP."""

import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from http.client import responses
from pathlib import Path

import httpx2
from mcp import Client
from mcp.client._transport import TransportStreams
from mcp.client.stdio import get_default_environment
from mcp.client.streamable_http import streamable_http_client
from mcp.server import MCPServer

from holdfast.models.errors import BadConfiguration
from holdfast.tools.mcp.server_config import HttpServer, ServerConfig, StdioServer
from holdfast.tools.mcp.server_sandbox import (
    find_server_sandbox,
    sandboxed_environment,
    sandboxed_launch,
)
from holdfast.tools.mcp.transports.isolating_http_client import IsolatingHttpClient
from holdfast.tools.mcp.transports.message_limits import MAX_MESSAGE_BYTES
from holdfast.tools.mcp.transports.message_streams import (
    FilteredReader,
    Inbound,
    OpenRequests,
    Outbound,
    TrackingWriter,
)
from holdfast.tools.mcp.transports.server_log import ServerLog
from holdfast.tools.mcp.transports.stdio_transport import ProgramStart, open_server_program
from holdfast.tools.mcp.transports.tool_listing import ToolListing
from holdfast.tools.sandbox.bubblewrap_command import Launch


@dataclass(frozen=True)
class OpenConnection:
    """An open connection, and what the library does not see of its tool listing."""

    client: Client
    listing: ToolListing = field(default_factory=ToolListing)


Connect = Callable[[], AbstractAsyncContextManager[OpenConnection]]


def connect_in_process(server: MCPServer) -> Connect:
    """Return a function that connects to a server object in this process."""

    @asynccontextmanager
    async def connect() -> AsyncIterator[OpenConnection]:
        async with Client(server) as client:
            yield OpenConnection(client)

    return connect


def connect_configured(name: str, server: ServerConfig, server_log: ServerLog | None) -> Connect:
    """Return a function that connects to a configured server; the log takes its stderr."""

    @asynccontextmanager
    async def connect() -> AsyncIterator[OpenConnection]:
        listing = ToolListing()
        if isinstance(server, HttpServer):
            streams = _http(name, server, listing)
        else:
            streams = _stdio(name, server, listing, server_log)
        async with Client(streams) as client:
            yield OpenConnection(client, listing)

    return connect


@asynccontextmanager
async def _stdio(
    name: str, server: StdioServer, listing: ToolListing, server_log: ServerLog | None
) -> AsyncIterator[TransportStreams]:
    env = {variable: _environment_secret(name, variable) for variable in server.env}
    async with (
        _program_start(name, server, env) as start,
        open_server_program(name, start, server_log) as (reading, writing),
    ):
        yield _bounded(reading, writing, listing, sends_directly=True)


@asynccontextmanager
async def _program_start(
    name: str, server: StdioServer, env: Mapping[str, str]
) -> AsyncIterator[ProgramStart]:
    if server.sandbox is None:
        everything = get_default_environment() | dict(env)
        yield ProgramStart(Launch(server.command), everything, server.cwd)
        return
    bubblewrap = await find_server_sandbox(name)
    environment = sandboxed_environment(env, server.command)
    cwd = server.cwd or Path.cwd()
    with sandboxed_launch(bubblewrap, server.command, cwd, server.sandbox) as launch:
        yield ProgramStart(launch, environment, limits=server.sandbox.limits)


@asynccontextmanager
async def _http(
    name: str, server: HttpServer, listing: ToolListing
) -> AsyncIterator[TransportStreams]:
    headers = {
        header: _environment_secret(name, variable)
        for header, variable in server.headers_env.items()
    }
    # No read timeout: a tool may compute for long before its one body comes.
    async with (
        IsolatingHttpClient(headers=headers, timeout=httpx2.Timeout(30, read=None)) as posts,
        streamable_http_client(
            server.url, http_client=posts, max_sse_event_size=2 * MAX_MESSAGE_BYTES
        ) as (
            reading,
            writing,
        ),
    ):
        yield _bounded(reading, writing, listing, sends_directly=False)


def _bounded(
    reading: Inbound, writing: Outbound, listing: ToolListing, *, sends_directly: bool
) -> TransportStreams:
    requests = OpenRequests()
    writer = TrackingWriter(writing, requests, sends_directly=sends_directly)
    return FilteredReader(reading, listing, requests), writer


def _environment_secret(name: str, variable: str) -> str:
    value = os.environ.get(variable, "").strip()
    if not value:
        raise BadConfiguration(
            f"server {name!r} needs the environment variable {variable!r};"
            " set it where the worker is started"
        )
    return value


def describe_http_status(status: int) -> str:
    words = f"HTTP {status} {responses.get(status, '')}".rstrip()
    if status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
        return f"{words}; check its headers_env in holdfast.toml"
    if status == HTTPStatus.NOT_FOUND:
        return f"{words}; check its url in holdfast.toml"
    return words
