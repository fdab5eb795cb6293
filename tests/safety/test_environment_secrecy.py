"""Tests that no process that a worker starts finds secrets in the environment of another."""

import json
import os
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from holdfast.services.service_state import load_state
from tests.support.services.command_shell import command_shell

SECRET = "walnut-drawer-seventeen"
SPY = str(Path("tests/servers/environment_reading_server.py").absolute())
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="/proc is of Linux")

WORKER = f"""
import asyncio, os, sys
from datetime import timedelta
from holdfast.services.worker.environment_block import hide_environment
from holdfast.tools.mcp.server_config import StdioServer
from holdfast.tools.mcp.tool_hub import Hub

hide_environment()

async def look():
    server = StdioServer(command=(sys.executable, {SPY!r}), env=("PARENTS",))
    async with Hub({{"spy": server}}, {{}}, patience=timedelta(seconds=60)) as hub:
        await hub.signatures()
        return (await hub.call("spy.look", {{}}, timeout=timedelta(seconds=60))).text

seen = asyncio.run(look())
child = os.popen("echo $PLANTED").read().strip()
print("BORDER".join([seen, os.environ["PLANTED"], child]))
"""


@pytest.mark.conformance("SAF-04")
def test_a_tool_server_reads_no_value_in_the_environment_of_its_worker() -> None:
    # The server asks for no grandparents: pytest's own environment is not ours to hide.
    environment = os.environ | {"PLANTED": SECRET, "PARENTS": "0", "HOLDFAST_HOME": "/a/home"}

    done = subprocess.run(
        [sys.executable, "-c", WORKER], env=environment, capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stderr
    seen, ours, inherited = done.stdout.split("BORDER")
    assert f"PLANTED={'*' * len(SECRET)}" in seen
    assert "HOLDFAST_HOME=/a/home" in seen
    assert SECRET not in seen
    assert (ours, inherited.strip()) == (SECRET, SECRET)


@pytest.mark.slow
@pytest.mark.conformance("SAF-04")
def test_no_process_of_an_installation_shows_the_key_that_it_was_started_with() -> None:
    with command_shell() as here:
        started = here.program("up", OPENAI_API_KEY=SECRET, OPENAI_BASE_URL="http://127.0.0.1:9/v1")
        assert started.code == 0, started.err
        state = json.loads(load_state(here.home).model_dump_json())

        ours = [
            process
            for process in psutil.process_iter()
            if str(here.home) in _command_line(process) or _names_home(process, here.home)
        ]
        shown = {process.pid: _environment(process.pid) for process in ours}

    assert len(shown) >= 4, state  # supervisor, worker, PostgreSQL, Temporal
    assert not [pid for pid, text in shown.items() if SECRET in text]


def _command_line(process: psutil.Process) -> str:
    try:
        return " ".join(process.cmdline())
    except psutil.Error:  # it has ended meanwhile
        return ""


def _names_home(process: psutil.Process, home: Path) -> bool:
    return f"HOLDFAST_HOME={home}\n" in _environment(process.pid)


def _environment(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes().replace(b"\0", b"\n").decode() + "\n"
    except OSError:
        return ""
