"""Fixtures of the hub tests: a shared HTTP server, an HTTP server to kill, and a hub over both
transports."""

from collections.abc import AsyncIterator

import pytest

from holdfast.tools.mcp.tool_hub import Hub
from tests.support.tools.server_processes import HttpServerProcess, hub_with_servers, stdio_server


@pytest.fixture(scope="session")
async def http_lab() -> AsyncIterator[HttpServerProcess]:
    """A lab that tests share, so they must leave it alive."""
    lab = HttpServerProcess()
    await lab.start()
    yield lab
    await lab.kill()


@pytest.fixture
async def mortal_lab() -> AsyncIterator[HttpServerProcess]:
    """A lab of one's own, to kill."""
    lab = HttpServerProcess()
    await lab.start()
    yield lab
    await lab.kill()


@pytest.fixture(scope="session")
async def hub(http_lab: HttpServerProcess) -> AsyncIterator[Hub]:
    """Both labs and the raw server behind one hub, for tests that break no connection."""
    bind = {"collection": "corpus"}
    servers = {
        "pipe": stdio_server("failing_tools_server.py", bind=bind, max_bytes=10_000),
        "web": http_lab.config(bind=bind, max_bytes=1_000_000),
        "raw": stdio_server("invalid_protocol_server.py"),
    }
    async with hub_with_servers(servers) as opened:
        await opened.signatures()
        yield opened
