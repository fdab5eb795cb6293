"""Implement `holdfast mcp`: serve an MCP host over standard input and output."""

import asyncio
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field

from holdfast.cli.options.command_settings import load_command_settings
from holdfast.cli.service_start import start_installation
from holdfast.client import Holdfast, open_client
from holdfast.configuration.json_logs import configure_logs
from holdfast.mcp_server.local_access import LocalCallerAccess
from holdfast.mcp_server.server_assembly import build_mcp_server
from holdfast.models.errors import ServiceDown
from holdfast.services.launch.page_server import running_page_server
from holdfast.settings import Settings
from holdfast.web.page_address import page_address

_PAGE_WITHIN_S = 15.0


def mcp_command() -> None:
    """Serve until the host closes the input."""
    # Standard output carries the protocol alone.
    configure_logs()
    asyncio.run(_serve(load_command_settings()))


@dataclass
class _Connection:
    """The connection to the installation, which is made again where a service has moved."""

    settings: Settings
    _open: AsyncExitStack = field(default_factory=AsyncExitStack)

    async def connect(self) -> Holdfast:
        """Start the missing services and connect to them."""
        await self.close()
        endpoints = await start_installation(self.settings)
        await self._start_page()
        return await self._open.enter_async_context(open_client(self.settings, endpoints))

    async def _start_page(self) -> None:
        """Start the page, so that the first job has an address; jobs do without it as well."""
        with suppress(ServiceDown, TimeoutError):
            async with asyncio.timeout(_PAGE_WITHIN_S):
                await page_address(self.settings)

    async def close(self) -> None:
        await self._open.aclose()


async def _serve(settings: Settings) -> None:
    connection = _Connection(settings)
    access = LocalCallerAccess(connection.connect, _find_page)
    server = build_mcp_server(access)
    access.begin()
    try:
        await server.run_stdio_async()
    finally:
        await connection.close()


def _find_page(holdfast: Holdfast) -> str:
    """The address of the page; a browser that is not signed in is told how to sign in."""
    server = running_page_server(holdfast.settings.home)
    return server.url if server else ""
