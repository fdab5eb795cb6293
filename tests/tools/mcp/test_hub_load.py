"""Tests the hub with twenty servers and two hundred calls at once, some of the servers hostile."""

import asyncio
from datetime import timedelta
from pathlib import Path

import psutil
import pytest

from holdfast.models.calls.tool_signatures import ToolAnswer
from holdfast.models.errors import HoldfastError, ToolBusy, ToolFailed
from holdfast.tools.mcp.server_config import StdioServer
from holdfast.tools.mcp.tool_hub import Hub
from holdfast.tools.mcp.transports import stdio_transport
from tests.support.tools.server_processes import SERVER_SCRIPTS, hub_with_servers, stdio_server

pytestmark = pytest.mark.slow

BAD = ("dies", "hangs", "floods", "silent", "endless", "nameless")
SOUND = tuple(f"sound{n}" for n in range(20 - len(BAD)))
MINUTE = timedelta(minutes=1)


def hostile(folder: Path, mode: str, **options: object) -> StdioServer:
    server = stdio_server("hostile_stdio_server.py", **options)
    return server.model_copy(update={"command": (*server.command, mode, str(folder))})


@pytest.fixture(autouse=True)
def _short_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stdio_transport, "MAX_MESSAGE_BYTES", 2**20)


async def test_bad_servers_cost_their_own_calls_alone(tmp_path: Path) -> None:
    servers = {name: hostile(tmp_path, name, concurrency=16) for name in BAD + SOUND}
    servers["hangs"] = servers["hangs"].model_copy(update={"timeout_s": 6})
    ended: list[str] = []
    async with hub_with_servers(servers, patience=8) as hub:
        listed = await hub.signatures()
        named = hub.faults()

        async def call(server: str, number: int) -> ToolAnswer | HoldfastError:
            try:
                return await hub.call(f"{server}.echo", {"text": f"{number}"}, timeout=MINUTE)
            except HoldfastError as error:
                return error
            finally:
                ended.append(server)

        calls = [(server, number) for number in range(10) for server in servers]
        results = await asyncio.gather(*(call(*each) for each in calls))

    assert (len(servers), len(calls)) == (20, 200)
    assert {tool.name for tool in listed} == {f"{n}.echo" for n in servers if n != "silent"}
    assert [fault for fault in named if "silent" in fault] == list(named)
    by_server = {
        name: [r for (server, _), r in zip(calls, results, strict=True) if server == name]
        for name in servers
    }
    for name in (*SOUND, "floods", "nameless"):
        texts = [r.text if isinstance(r, ToolAnswer) else r for r in by_server[name]]
        assert texts == [f"{n}" for n in range(10)], name
    died = [r for r in by_server["dies"] if isinstance(r, ToolAnswer)]
    assert len(died) == 10, "what is safe to repeat was sent again to the server that came back"
    assert {type(r) for r in by_server["hangs"]} == {ToolFailed}
    assert {type(r) for r in by_server["silent"]} == {ToolBusy}
    assert all("over 1048576 bytes" in str(r) for r in by_server["endless"])
    last_sound = max(ended.index(n) + ended.count(n) for n in SOUND)
    assert last_sound < ended.index("hangs"), "nobody waited for the one that hangs"


async def test_neighbours_are_answered_while_a_server_floods(tmp_path: Path) -> None:
    servers = {name: hostile(tmp_path, name) for name in ("floods", "sound")}
    async with hub_with_servers(servers) as hub:
        flood = asyncio.create_task(hub.call("floods.echo", {"text": "until told"}, timeout=MINUTE))
        for number in range(50):
            answer = await hub.call("sound.echo", {"text": f"{number}"}, timeout=MINUTE)
            assert answer.text == f"{number}"
        assert not flood.done()
        (tmp_path / "told").touch()

        assert (await flood).text == "until told"


async def test_what_a_server_started_ends_with_it(tmp_path: Path) -> None:
    async with hub_with_servers({"lab": hostile(tmp_path, "parent")}) as hub:
        await hub.call("lab.echo", {"text": "here"}, timeout=MINUTE)
        child = psutil.Process(int((tmp_path / "child").read_text()))
        was_running = child.is_running()

    assert was_running
    assert not child.is_running() or child.status() == psutil.STATUS_ZOMBIE


async def test_a_server_that_is_no_program_names_itself(tmp_path: Path) -> None:
    missing = StdioServer(command=("no-such-program-anywhere",), cwd=SERVER_SCRIPTS)
    async with Hub({"lab": missing}, {}, patience=timedelta(seconds=5)) as hub:
        with pytest.raises(ToolFailed, match="no-such-program-anywhere"):
            await hub.call("lab.echo", {}, timeout=MINUTE)
