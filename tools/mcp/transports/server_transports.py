"""Open a connection to an MCP server in this process, as a child program, or over HTTP."""

import os
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from http.client import responses
from pathlib import Path

import httpx2
from mcp import Client
from mcp.client._transport import TransportStreams
from mcp.client.streamable_http import streamable_http_client
from mcp.server import MCPServer

from holdfast.models.errors import BadConfiguration
from holdfast.tools.mcp.server_config import HttpServer, ServerConfig, StdioServer
from holdfast.tools.mcp.transports.message_streams import (
    MAX_MESSAGE_BYTES,
    FilteredReader,
    IsolatingHttpClient,
    TrackingWriter,
    WithheldTools,
)
from holdfast.tools.mcp.transports.stdio_transport import open_server_program


@dataclass(frozen=True)
class OpenConnection:
    """An open connection, and the parts of its tool listing that the library does not see."""

    client: Client
    withheld: WithheldTools = field(default_factory=WithheldTools)


Connect = Callable[[], AbstractAsyncContextManager[OpenConnection]]


def connect_in_process(server: MCPServer) -> Connect:
    """Return a function that connects to a server object in this process."""

    @asynccontextmanager
    async def connect() -> AsyncIterator[OpenConnection]:
        async with Client(server) as client:
            yield OpenConnection(client)

    return connect


def connect_configured(name: str, server: ServerConfig, log_folder: Path | None) -> Connect:
    """Return a function that connects to a configured server; its stderr goes to the log folder."""

    @asynccontextmanager
    async def connect() -> AsyncIterator[OpenConnection]:
        withheld = WithheldTools()
        if isinstance(server, HttpServer):
            streams = _http(name, server, withheld)
        else:
            streams = _stdio(name, server, withheld, log_folder)
        async with Client(streams) as client:
            yield OpenConnection(client, withheld)

    return connect


@asynccontextmanager
async def _stdio(
    name: str, server: StdioServer, withheld: WithheldTools, log_folder: Path | None
) -> AsyncIterator[TransportStreams]:
    env = {variable: _environment_secret(name, variable) for variable in server.env}
    log = Path(os.devnull) if log_folder is None else log_folder / f"{name}.log"
    with log.open("a", encoding="utf-8") as errors:
        async with open_server_program(name, server.command, env, server.cwd, errors) as (
            reading,
            writing,
        ):
            yield FilteredReader(reading, withheld), TrackingWriter(writing)


@asynccontextmanager
async def _http(
    name: str, server: HttpServer, withheld: WithheldTools
) -> AsyncIterator[TransportStreams]:
    headers = {
        header: _environment_secret(name, variable)
        for header, variable in server.headers_env.items()
    }
    # No read timeout: a tool may compute for long before its one body comes.
    async with (
        IsolatingHttpClient(headers=headers, timeout=httpx2.Timeout(30, read=None)) as posts,
        streamable_http_client(
            server.url, http_client=posts, max_sse_event_size=MAX_MESSAGE_BYTES
        ) as (
            reading,
            writing,
        ),
    ):
        yield FilteredReader(reading, withheld), writing


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
