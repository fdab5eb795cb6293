"""How a connection to an MCP server is opened: in this process, as a program, or over HTTP."""

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

from models.errors import BadConfiguration
from tools.config import HttpServer, ServerConfig, StdioServer
from tools.stdio import program
from tools.streams import LARGEST_BYTES, Ears, Mouth, Posts, Withheld


@dataclass(frozen=True)
class Wire:
    """An open connection, and what was kept from the library."""

    client: Client
    withheld: Withheld = field(default_factory=Withheld)


Connect = Callable[[], AbstractAsyncContextManager[Wire]]


def in_process(server: MCPServer) -> Connect:
    """How to reach a server that is an object in this process."""

    @asynccontextmanager
    async def connect() -> AsyncIterator[Wire]:
        async with Client(server) as client:
            yield Wire(client)

    return connect


def configured(name: str, server: ServerConfig, log_folder: Path | None) -> Connect:
    """How to reach a server of `holdfast.toml`; what it writes to stderr goes to the log folder."""

    @asynccontextmanager
    async def connect() -> AsyncIterator[Wire]:
        withheld = Withheld()
        if isinstance(server, HttpServer):
            streams = _http(name, server, withheld)
        else:
            streams = _stdio(name, server, withheld, log_folder)
        async with Client(streams) as client:
            yield Wire(client, withheld)

    return connect


@asynccontextmanager
async def _stdio(
    name: str, server: StdioServer, withheld: Withheld, log_folder: Path | None
) -> AsyncIterator[TransportStreams]:
    env = {variable: _secret(name, variable) for variable in server.env}
    log = Path(os.devnull) if log_folder is None else log_folder / f"{name}.log"
    with log.open("a", encoding="utf-8") as errors:
        async with program(name, server.command, env, server.cwd, errors) as (reading, writing):
            yield Ears(reading, withheld), Mouth(writing)


@asynccontextmanager
async def _http(
    name: str, server: HttpServer, withheld: Withheld
) -> AsyncIterator[TransportStreams]:
    headers = {header: _secret(name, variable) for header, variable in server.headers_env.items()}
    # No read timeout: a modern tool answers in one body, however long it takes to come.
    async with (
        Posts(headers=headers, timeout=httpx2.Timeout(30, read=None)) as posts,
        streamable_http_client(server.url, http_client=posts, max_sse_event_size=LARGEST_BYTES) as (
            reading,
            writing,
        ),
    ):
        yield Ears(reading, withheld), writing


def _secret(name: str, variable: str) -> str:
    value = os.environ.get(variable, "").strip()
    if not value:
        raise BadConfiguration(
            f"server {name!r} needs the environment variable {variable!r};"
            " set it where the worker is started"
        )
    return value


def status_words(status: int) -> str:
    words = f"HTTP {status} {responses.get(status, '')}".rstrip()
    if status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
        return f"{words}; check its headers_env in holdfast.toml"
    if status == HTTPStatus.NOT_FOUND:
        return f"{words}; check its url in holdfast.toml"
    return words
