"""Tests for calls through the hub while a server dies, comes back, refuses, or never existed."""

import asyncio
import threading
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import psutil
import pytest
from mcp.server import MCPServer

from holdfast.models.errors import OutcomeUnknown, ToolBusy, ToolFailed
from holdfast.tools.mcp.tool_hub import Hub
from holdfast.tools.mcp.tool_server import BuiltinServer
from tests.support.tools.server_processes import HttpServerProcess, hub_with_servers, stdio_server

pytestmark = pytest.mark.slow
MINUTE = timedelta(minutes=1)


@pytest.fixture(scope="module")
async def mortal() -> AsyncIterator[Hub]:
    """A hub whose stdio server may be killed, because it is started again."""
    async with hub_with_servers(
        {"lab": stdio_server("failing_tools_server.py")}, patience=20
    ) as opened:
        yield opened


@pytest.mark.long
async def test_repeatable_call_outlives_its_stdio_server(mortal: Hub, tmp_path: Path) -> None:
    marker = {"marker": str(tmp_path / "died")}

    answer = await mortal.call("lab.exit_first", marker, timeout=MINUTE)

    assert answer.text == "survived"


async def test_outcome_is_unknown_where_repeating_is_not_safe(mortal: Hub, tmp_path: Path) -> None:
    marker = {"marker": str(tmp_path / "died")}

    with pytest.raises(OutcomeUnknown, match=r"lab\.exit_first_unsafely was sent"):
        await mortal.call("lab.exit_first_unsafely", marker, timeout=MINUTE)

    assert (await mortal.call("lab.echo", {"text": "back"}, timeout=MINUTE)).text == "back"


@pytest.mark.long
async def test_tool_that_always_kills_its_server_is_sent_twice_only(mortal: Hub) -> None:
    with pytest.raises(ToolFailed, match="sent twice and the connection broke both times"):
        await mortal.call("lab.exit_always", {}, timeout=MINUTE)


@pytest.mark.long
async def test_unsafe_call_is_sent_to_a_stdio_server_that_died_while_idle(mortal: Hub) -> None:
    seen = await mortal.call("lab.seen", {}, timeout=MINUTE)
    await _kill(seen.structured["pid"])

    again = await mortal.call("lab.seen", {}, timeout=MINUTE)

    assert again.structured["pid"] != seen.structured["pid"]


@pytest.mark.long
async def test_http_server_killed_in_mid_call_leaves_the_outcome_unknown(
    mortal_lab: HttpServerProcess,
) -> None:
    async with hub_with_servers({"lab": mortal_lab.config()}, patience=1) as hub:
        with pytest.raises(OutcomeUnknown, match=r"lab\.exit_now was sent"):
            await hub.call("lab.exit_now", {}, timeout=MINUTE)
        await mortal_lab.kill()  # a dying process still takes connections, and then nobody knows
        with pytest.raises(ToolBusy, match=r"server 'lab' is unavailable: ConnectError"):
            await hub.call("lab.fail", {}, timeout=MINUTE)

        await mortal_lab.start()

        assert (await hub.call("lab.echo", {"text": "back"}, timeout=MINUTE)).text == "back"


@pytest.mark.long
async def test_whether_a_tool_is_repeatable_is_not_known_while_its_server_is_away(
    mortal_lab: HttpServerProcess,
) -> None:
    async with hub_with_servers({"lab": mortal_lab.config()}, patience=10) as hub:
        declared = {
            name: await hub.is_repeatable(f"lab.{name}")
            for name in ("exit_always", "exit_now", "never_listed")
        }
    await mortal_lab.kill()
    async with hub_with_servers({"lab": mortal_lab.config()}, patience=1) as hub:
        with pytest.raises(ToolBusy, match="server 'lab' cannot be reached"):
            await hub.is_repeatable("lab.exit_always")

    assert declared == {"exit_always": True, "exit_now": False, "never_listed": False}


async def test_repeatable_call_waits_for_an_http_server_that_comes_back(
    mortal_lab: HttpServerProcess, tmp_path: Path
) -> None:
    async with hub_with_servers({"lab": mortal_lab.config()}, patience=10) as hub:
        marker = tmp_path / "died"
        call = hub.call("lab.exit_first", {"marker": str(marker)}, timeout=MINUTE)
        calling = asyncio.create_task(call)
        assert mortal_lab.process is not None
        await mortal_lab.process.wait()

        await mortal_lab.start()

        assert (await calling).text == "survived"


@pytest.mark.long
async def test_session_of_an_older_server_is_made_again_after_its_restart() -> None:
    lab = HttpServerProcess({"LAB_OLDER": "1"})
    await lab.start()
    try:
        async with hub_with_servers({"lab": lab.config()}) as hub:
            first = await hub.call("lab.seen", {}, timeout=MINUTE)
            await lab.kill()
            await lab.start()

            second = await hub.call("lab.seen", {}, timeout=MINUTE)

            assert first.structured["pid"] != second.structured["pid"]
            with pytest.raises(OutcomeUnknown, match=r"lab\.exit_now was sent"):
                await hub.call("lab.exit_now", {}, timeout=MINUTE)
    finally:
        await lab.kill()


@pytest.mark.long
async def test_failing_post_takes_no_neighbour_along(mortal_lab: HttpServerProcess) -> None:
    async with hub_with_servers({"lab": mortal_lab.config()}) as hub:
        await hub.signatures()
        neighbour = asyncio.create_task(hub.call("lab.hang", {"seconds": 0.5}, timeout=MINUTE))

        with pytest.raises(OutcomeUnknown, match=r"RemoteProtocolError|ReadError"):
            await hub.call("lab.cut_off", {}, timeout=MINUTE)

        assert (await neighbour).text == "awake"


async def test_builtin_tool_that_blocks_a_thread_is_left_behind() -> None:
    server, awake = MCPServer("slow"), threading.Event()

    @server.tool()
    def block() -> bool:
        return awake.wait(20)

    async with Hub({}, {"slow": BuiltinServer(server)}) as hub:
        with pytest.raises(OutcomeUnknown, match=r"slow\.block gave no answer within 0\.1 s, and"):
            await hub.call("slow.block", {}, timeout=timedelta(seconds=0.1))
        awake.set()


async def test_http_status_of_a_refusal_is_told_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    lab = HttpServerProcess({"LAB_TOKEN": "Bearer right"})
    await lab.start()
    monkeypatch.setenv("WRONG", "Bearer wrong")
    monkeypatch.setenv("RIGHT", "Bearer right\n")
    servers = {
        name: lab.config(headers_env={"Authorization": name.upper()}) for name in ("wrong", "right")
    }
    try:
        async with hub_with_servers(servers, patience=60) as hub:
            with pytest.raises(ToolFailed, match="HTTP 401 Unauthorized; check its headers_env"):
                await hub.call("wrong.echo", {"text": "x"}, timeout=MINUTE)
            assert (await hub.call("right.echo", {"text": "x"}, timeout=MINUTE)).text == "x"
            assert {each.name.split(".")[0] for each in await hub.signatures()} == {"right"}
            (fault,) = hub.faults()
            assert hub.only(("wrong",)).faults() == (fault,)
            assert hub.only(("right",)).faults() == ()
    finally:
        await lab.kill()


async def test_servers_that_are_away_hide_no_other(hub: Hub, tmp_path: Path) -> None:
    silent = tmp_path / "silent.py"
    silent.write_text("import time; time.sleep(60)")
    exiting = tmp_path / "exiting.py"
    exiting.write_text("import sys; sys.exit('no licence')")
    servers = {
        "missing": stdio_server("failing_tools_server.py", command=["no-such-command"]),
        "silent": stdio_server(str(silent)),
        "exiting": stdio_server(str(exiting)),
        "unset": stdio_server("failing_tools_server.py", env=["HOLDFAST_NO_SUCH_VARIABLE"]),
        "sound": stdio_server("invalid_protocol_server.py"),
    }

    async with hub_with_servers(servers, patience=1.5, log_folder=tmp_path) as hub:
        names = {signature.name for signature in await hub.signatures()}
        faults = [fault for fault in hub.faults() if fault.startswith("server")]

        assert "sound.sound" in names
        exiting_fault, missing_fault, silent_fault, unset_fault = faults
        assert "Connection closed (it may have exited; see its log)" in exiting_fault
        assert "there is no 'no-such-command'; install it" in missing_fault
        assert "'silent' cannot be reached: it is still starting" in silent_fault
        assert "needs the environment variable 'HOLDFAST_NO_SUCH_VARIABLE'" in unset_fault
        assert "no licence" in (tmp_path / "exiting.log").read_text()
        with pytest.raises(ToolFailed, match="there is no 'no-such-command'"):
            await hub.call("missing.tool", {}, timeout=MINUTE)
        with pytest.raises(ToolBusy, match="'exiting' cannot be reached"):
            await hub.call("exiting.tool", {}, timeout=MINUTE)


async def test_only_named_variables_reach_a_server(
    mortal: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAB_SECRET", "s3cret")

    async with hub_with_servers(
        {"told": stdio_server("failing_tools_server.py", env=["LAB_SECRET"])}
    ) as hub:
        told = await hub.call("told.seen", {}, timeout=MINUTE)
    untold = await mortal.call("lab.seen", {}, timeout=MINUTE)

    assert (told.structured["env"], untold.structured["env"]) == ("s3cret", None)


async def _kill(pid: int) -> None:
    process = psutil.Process(pid)
    process.kill()
    await asyncio.to_thread(process.wait, 10)
    # The pipe's end reaches the event loop a turn later, and nothing public shows that it has.
    await asyncio.sleep(0.05)


async def test_a_hub_that_closes_while_a_server_connects_ends(
    http_lab: HttpServerProcess,
) -> None:
    async def open_and_close(after_s: float) -> None:
        async with hub_with_servers({"lab": http_lab.config()}):
            await asyncio.sleep(after_s)

    for milliseconds in range(0, 60, 2):
        async with asyncio.timeout(10):
            await open_and_close(milliseconds / 1000)
