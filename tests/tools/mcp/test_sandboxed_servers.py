"""Tests that an MCP command with `sandbox` reaches what its table grants and nothing else."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import psutil
import pytest

from holdfast.models.errors import BadConfiguration, OutcomeUnknown, ToolFailed
from holdfast.tools.mcp.server_config import StdioServer, read_servers
from holdfast.tools.mcp.server_sandbox import ServerGrants
from holdfast.tools.mcp.tool_hub import Hub
from holdfast.tools.sandbox.sandbox_support import find_sandbox
from tests.support.tools.server_processes import SERVER_SCRIPTS, hub_with_servers

pytestmark = pytest.mark.conformance("SAF-08")

AT_ONCE = timedelta(seconds=60)
SECRET = "walnut-drawer-seventeen"


def confined(**grants: object) -> StdioServer:
    """The server that tries things, in a sandbox with these grants."""
    command = (sys.executable, str(SERVER_SCRIPTS / "confined_server.py"))
    return StdioServer(
        command=command,
        env=("GRANTED",),
        cwd=SERVER_SCRIPTS,
        sandbox=ServerGrants.model_validate(grants),
    )


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("granted").resolve()
    for name in ("books", "notes", "private"):
        (folder / name).mkdir()
        (folder / name / "a.txt").write_text(f"of {name}")
    return folder


@pytest.fixture(scope="module")
async def hub(folders: Path) -> AsyncIterator[Hub]:
    support = await find_sandbox()
    if support.bubblewrap is None:
        pytest.skip(support.reason)
    servers = {
        "closed": confined(),
        "granted": confined(network=True, read=[folders / "books"], write=[folders / "notes"]),
        "small": confined(memory_mb=400),
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GRANTED", "of its table")
        patch.setenv("OPENAI_API_KEY", SECRET)
        async with hub_with_servers(servers, patience=60) as opened:
            await opened.signatures()
            yield opened


async def attempt(hub: Hub, server: str, code: str) -> str:
    return (await hub.call(f"{server}.attempt", {"code": code}, timeout=AT_ONCE)).text


async def test_a_sandboxed_command_has_no_environment_but_its_own(hub: Hub) -> None:
    environment = await attempt(hub, "closed", "sorted(os.environ)")

    assert set(eval(environment)) <= {"GRANTED", "HOME", "LANG", "LC_CTYPE", "PATH", "PWD"}
    assert await attempt(hub, "closed", "os.environ['GRANTED']") == "************"
    processes = await attempt(hub, "closed", "[p for p in os.listdir('/proc') if p.isdigit()]")
    assert len(eval(processes)) <= 3


async def test_the_network_is_there_only_if_it_is_granted(hub: Hub) -> None:
    server = await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    code = f"__import__('socket').create_connection(('127.0.0.1', {port}), 5) and 'reached'"

    assert (await attempt(hub, "closed", code)).startswith("refused: ")
    assert await attempt(hub, "granted", code) == "reached"
    server.close()


async def test_files_are_there_only_if_they_are_granted(hub: Hub, folders: Path) -> None:
    def code(name: str, mode: str) -> str:
        return f"open({str(folders / name / 'a.txt')!r}, {mode!r}).{'read()' if mode == 'r' else 'write(chr(97))'}"

    assert await attempt(hub, "granted", code("books", "r")) == "of books"
    assert await attempt(hub, "granted", code("notes", "w")) == "1"
    assert (folders / "notes" / "a.txt").read_text() == "a"
    assert "refused" in await attempt(hub, "granted", code("books", "w"))
    assert "refused" in await attempt(hub, "granted", code("private", "r"))
    assert "refused" in await attempt(hub, "closed", code("books", "r"))
    assert "refused" in await attempt(hub, "closed", f"open({__file__!r})")
    assert "refused" in await attempt(hub, "closed", "open('confined_server.py', 'a')")


async def test_the_memory_of_all_its_processes_together_is_bounded(hub: Hub) -> None:
    before = _sandboxes()

    with pytest.raises((ToolFailed, OutcomeUnknown)):
        await hub.call("small.grow", {"megabytes": 120, "processes": 5}, timeout=AT_ONCE)

    assert await attempt(hub, "small", "1 + 1") == "2", "it is started again"
    while _sandboxes() - before:  # what remains of the old one is ending
        await asyncio.sleep(0.05)


def _sandboxes() -> int:
    """How many of our processes run the server."""
    below = psutil.Process(os.getpid()).children(recursive=True)
    return sum("confined_server" in _command_line(process) for process in below)


def _command_line(process: psutil.Process) -> str:
    try:
        return " ".join(process.cmdline())
    except psutil.Error:  # it has ended meanwhile
        return ""


async def test_without_bubblewrap_such_a_command_does_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    planted = tmp_path / "planted"
    server = StdioServer(command=("/bin/sh", "-c", f"touch {planted}"), sandbox=ServerGrants())
    monkeypatch.setenv("PATH", str(tmp_path))

    async with hub_with_servers({"a": server}) as hub:
        with pytest.raises(ToolFailed, match=r"has sandbox = true, and bubblewrap is not inst"):
            await hub.call("a.b", {}, timeout=AT_ONCE)

    assert not planted.exists()


def test_the_grants_of_a_table_start_at_the_folder_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "books").mkdir()
    path = tmp_path / "holdfast.toml"
    path.write_text(
        '[servers.a]\ncommand = ["x"]\nsandbox = true\n'
        '[servers.b]\ncommand = ["x"]\nsandbox = false\n'
        '[servers.c]\ncommand = ["x"]\nsandbox = { read = ["books"], memory_mb = 512 }\n'
    )

    servers = read_servers(path)
    sandboxes = [each.sandbox for each in servers.values() if isinstance(each, StdioServer)]

    assert sandboxes == [
        ServerGrants(),
        None,
        ServerGrants(read=(tmp_path / "books",), memory_mb=512),
    ]


@pytest.mark.parametrize(
    ("value", "complaint"),
    [
        ('"yes"', "servers.a.sandbox: "),
        ("{ memory_mb = 1 }", "servers.a.sandbox: "),
        ("{ net = true }", "write for example sandbox = true or sandbox = {"),
        ('{ read = ["gone"] }', "servers.a.sandbox.read: no such file or folder"),
    ],
)
def test_a_wrong_grant_is_named(tmp_path: Path, value: str, complaint: str) -> None:
    path = tmp_path / "holdfast.toml"
    path.write_text(f'[servers.a]\ncommand = ["x"]\nsandbox = {value}\n')

    with pytest.raises(BadConfiguration) as caught:
        read_servers(path)

    assert complaint in str(caught.value)
