"""Tests that a forked worker finds its modules loaded, and that its supervisor can fork."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.services.bare_environment import bare_environment

OPENS_SERVICES = """
import asyncio, json, sys
from mcp import Client
from mcp.server import MCPServer
from holdfast.services.supervisor.preloaded_modules import preload_modules
from holdfast.services.supervisor.process_signals import is_safe_to_fork
from holdfast.settings import load_settings
from holdfast.worker import open_services

async def open_all():
    async with open_services(settings, "postgresql+psycopg://nobody@/none?host=/nowhere"):
        async with Client(server) as client:
            await client.call_tool("double", {"number": 1})

server = MCPServer("numbers")

@server.tool()
def double(number: int) -> int:
    return 2 * number

settings = load_settings()
preload_modules(settings)
can_fork, before = is_safe_to_fork(), set(sys.modules)
asyncio.run(open_all())
later = sorted(set(sys.modules) - before)
print(json.dumps({"can_fork": can_fork, "later": later}))
"""


@pytest.mark.parametrize("embeds", ["false", "true"])
def test_a_worker_opens_its_services_and_calls_a_tool_without_loading_a_module(
    tmp_path: Path, embeds: str
) -> None:
    config = tmp_path / "holdfast.toml"
    config.write_text('[servers.far]\nurl = "http://127.0.0.1:9/mcp"\n')
    environment = bare_environment() | {
        "HOLDFAST_HOME": str(tmp_path),
        "HOLDFAST_LOCAL_EMBEDDINGS": embeds,
        "HOLDFAST_CONFIG": str(config),
        "OPENAI_BASE_URL": "http://127.0.0.1:9/v1",
    }

    done = subprocess.run(
        [sys.executable, "-P", "-c", OPENS_SERVICES],
        capture_output=True,
        check=True,
        env=environment,
        timeout=120,
    )

    said = json.loads(done.stdout)
    assert said["later"] == []
    assert said["can_fork"] == (sys.platform == "linux")
