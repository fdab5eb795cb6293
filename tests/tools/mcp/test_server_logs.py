"""Tests that the log of a server program is masked, bounded and for its owner alone."""

import asyncio
import json
import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.models.text.secret_mask import SecretMask
from holdfast.settings import Settings
from holdfast.tools.mcp.server_config import StdioServer
from holdfast.tools.mcp.transports.server_log import MAX_LOG_BYTES, ServerLog
from holdfast.worker import open_services
from tests.support.tools.server_processes import hub_with_servers, stdio_server

SECRET = "walnut-drawer-seventeen"
STARS = "*" * len(SECRET)


@pytest.fixture
def open_umask() -> Iterator[None]:
    usual = os.umask(0)
    yield
    os.umask(usual)


async def log_of(path: Path, *chunks: bytes) -> None:
    """Keep a stream of these chunks, each of which is read before the next one is there."""
    errors = asyncio.StreamReader()
    keeping = asyncio.create_task(ServerLog(path, SecretMask([SECRET])).keep(errors))
    for chunk in chunks:
        errors.feed_data(chunk)
        while errors._buffer:  # type: ignore[attr-defined]  # the reader tells nobody
            await asyncio.sleep(0)
    errors.feed_eof()
    await keeping


@pytest.mark.conformance("SAF-04")
@pytest.mark.slow
async def test_the_log_of_a_server_has_no_secret_and_no_reader_but_its_owner(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, open_umask: None
) -> None:
    monkeypatch.setenv("LAB_SECRET", SECRET)
    program = "import os, sys; sys.exit('the key ' + os.environ['LAB_SECRET'] + ' has expired')"
    server = StdioServer(command=(sys.executable, "-c", program), env=("LAB_SECRET",))

    async with hub_with_servers({"exiting": server}, log_folder=tmp_path) as hub:
        await hub.signatures()

    log = tmp_path / "exiting.log"
    assert stat.S_IMODE(log.stat().st_mode) == 0o600
    assert log.read_text().startswith(f"the key {STARS} has expired\n")
    assert SECRET not in log.read_text()


async def test_a_worker_keeps_what_a_server_prints_in_its_home(tmp_path: Path) -> None:
    config = tmp_path / "holdfast.toml"
    command = json.dumps([sys.executable, "-c", "import sys; sys.exit('no licence')"])
    config.write_text(f"[servers.leaves]\ncommand = {command}\n")
    settings = Settings(home=tmp_path, config_file=config)

    async with open_services(settings, "postgresql+psycopg://nobody@/none?host=/nowhere") as parts:
        await parts.hub.signatures()

    log = tmp_path / "logs" / "servers" / "leaves.log"
    assert log.read_text().startswith("no licence\n")


@pytest.mark.long
async def test_a_log_that_cannot_be_written_stops_no_server(tmp_path: Path) -> None:
    (tmp_path / "lab.log").symlink_to(tmp_path / "elsewhere")

    servers = {"lab": stdio_server("failing_tools_server.py")}
    async with hub_with_servers(servers, log_folder=tmp_path) as hub:
        names = [signature.name for signature in await hub.signatures()]

    assert "lab.seen" in names
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.conformance("SAF-04")
@pytest.mark.parametrize("cut", [1, 10, len(SECRET) - 1])
async def test_a_secret_that_comes_in_two_parts_is_masked(cut: int, tmp_path: Path) -> None:
    line = f"{'x' * 20_000}{SECRET}".encode()

    await log_of(tmp_path / "lab.log", line[: 20_000 + cut], line[20_000 + cut :], b"\nend")

    assert (tmp_path / "lab.log").read_text() == f"{'x' * 20_000}{STARS}\nend"


async def test_a_log_is_bounded_and_a_full_one_is_kept_at_the_next_start(tmp_path: Path) -> None:
    path = tmp_path / "lab.log"
    flood = b"a line\n" * (MAX_LOG_BYTES // 2)

    await log_of(path, flood)
    full = path.read_bytes()
    await log_of(path, b"started again\n")
    await log_of(path, b"and again\n")

    assert full.startswith(b"a line\n")
    assert full.endswith(
        b"[The log is full. What the server prints until its next start is left out.]\n"
    )
    assert len(full) < MAX_LOG_BYTES + 100
    assert (tmp_path / "lab.log.1").read_bytes() == full
    assert path.read_text() == "started again\nand again\n"
