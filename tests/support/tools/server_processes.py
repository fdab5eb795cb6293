"""Start the MCP servers of tests/servers as real processes over stdio and HTTP."""

import asyncio
import os
import socket
import sys
from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path

from holdfast.tools.mcp.server_config import HttpServer, ServerConfig, StdioServer
from holdfast.tools.mcp.tool_hub import Hub

SERVER_SCRIPTS = Path(__file__).parents[2] / "servers"


def stdio_server(script: str, **options: object) -> StdioServer:
    command = (sys.executable, str(SERVER_SCRIPTS / script))
    return StdioServer.model_validate({"command": command, **options})


class HttpServerProcess:
    """A script as an HTTP server on one port, which can be killed and started again."""

    def __init__(
        self,
        environment: Mapping[str, str] | None = None,
        *,
        script: str = "failing_tools_server.py",
        arguments: Sequence[str] = (),
    ) -> None:
        self.command = (sys.executable, str(SERVER_SCRIPTS / script), *arguments)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port: int = free.getsockname()[1]
        self.environment = {**os.environ, **(environment or {})}
        self.process: asyncio.subprocess.Process | None = None

    def config(self, **options: object) -> HttpServer:
        url = f"http://127.0.0.1:{self.port}/mcp"
        return HttpServer.model_validate({"url": url, **options})

    async def start(self) -> None:
        self.process = await asyncio.create_subprocess_exec(
            *self.command, str(self.port), env=self.environment
        )
        while not await self._answers():
            assert self.process.returncode is None
            await asyncio.sleep(0.05)

    async def _answers(self) -> bool:
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", self.port)
        except OSError:
            return False
        writer.close()
        await writer.wait_closed()
        return True

    async def kill(self) -> None:
        if self.process is not None and self.process.returncode is None:
            self.process.kill()
        if self.process is not None:
            await self.process.wait()


def hub_with_servers(
    servers: Mapping[str, ServerConfig], *, patience: float = 60, **options: Path
) -> Hub:
    return Hub(servers, {}, patience=timedelta(seconds=patience), **options)
