"""Tests that `holdfast doctor` and other commands name the fault itself, in words."""

import asyncio
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from temporalio.client import Client

from holdfast.models.errors import BadConfiguration
from holdfast.services import service_discovery
from holdfast.services.checks import (
    endpoint_checks,
    health_checks,
    service_checks,
)
from holdfast.services.checks.check_outcome import CheckOutcome
from holdfast.services.checks.named_servers_check import check_named_servers
from holdfast.services.checks.sandbox_check import check_sandbox
from holdfast.services.servers import postgres_server
from holdfast.services.service_state import check_home
from holdfast.settings import Settings
from holdfast.tools.mcp.transports.server_connection import CONNECT_TIMEOUT
from holdfast.tools.sandbox.sandbox_support import find_sandbox
from tests.support.services.bare_environment import bare_environment

pytestmark = pytest.mark.slow

_MIGRATION = "holdfast.storage.core.schema_migration"


async def test_a_database_that_runs_is_reported_while_temporal_is_down(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service_discovery, "is_postgres_running", lambda *_: True)
    monkeypatch.setattr(postgres_server, "url", lambda _: database_url)
    monkeypatch.delenv("TEMPORAL_ADDRESS", raising=False)
    settings = Settings(home=tmp_path)

    endpoints = health_checks._endpoints(settings)
    database = await service_checks.check_database(settings, endpoints)
    temporal = await service_checks.check_temporal(settings, endpoints)
    ui = await service_checks.check_temporal_ui(settings, endpoints)

    assert database.is_good, database.detail
    assert temporal[:3] == (False, "the embedded Temporal is not running", "run `holdfast up`")
    assert ui.is_good is None


async def test_a_slow_endpoint_is_not_called_a_wrong_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def hang(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    monkeypatch.setattr(endpoint_checks, "TIMEOUT_S", 0.2)
    server = await asyncio.start_server(hang, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    settings = Settings(home=tmp_path, openai_base_url=f"http://127.0.0.1:{port}/v1")

    outcome = await endpoint_checks.check_default_endpoint(settings, None)

    server.close()
    assert outcome.detail == f"http://127.0.0.1:{port}/v1 did not answer within 0.2 s"
    assert "jobs wait longer" in outcome.remedy
    assert outcome.ran_out_of_time


@pytest.fixture
def full_disk(tmp_path: Path) -> Iterator[Path]:
    """A folder on a disk without free space."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(disk)],
        check=False,
        capture_output=True,
    )
    if mounted.returncode != 0:
        pytest.skip("only root can mount a small disk")
    try:
        with pytest.raises(OSError, match="No space"), (disk / "full").open("wb") as file:
            file.write(bytes(10**6))
        yield disk
    finally:
        subprocess.run(["umount", str(disk)], check=True)


async def test_a_full_disk_is_named(full_disk: Path) -> None:
    with pytest.raises(BadConfiguration, match=r"the disk of HOLDFAST_HOME .* is full"):
        check_home(full_disk)


async def test_a_nearly_full_disk_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health_checks, "free_bytes", lambda _: 10_000_000)

    outcome = await health_checks._home(Settings(home=tmp_path), None)

    assert not outcome.is_good
    assert "nearly full: 0.0 GB are free" in outcome.detail


@pytest.mark.parametrize(
    ("url", "says", "code"),
    [
        ("", "set HOLDFAST_DATABASE_URL", 2),
        ("postgresql://nobody@127.0.0.1:1/none", "PostgreSQL does not answer", 1),
        ("secret", "not an address like", 2),
    ],
)
def test_a_migration_that_cannot_begin_says_why(url: str, says: str, code: int) -> None:
    ran = subprocess.run(
        [sys.executable, "-m", _MIGRATION],
        env={**bare_environment(), "HOLDFAST_DATABASE_URL": url},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    assert ran.returncode == code
    assert ran.stderr.startswith("error: ")
    assert says in ran.stderr
    assert "Traceback" not in ran.stderr
    assert "secret" not in ran.stderr


_CALL_AFTER_LOSS = """
import asyncio, os, sys
from datetime import timedelta
from temporalio.api.workflowservice.v1 import GetSystemInfoRequest
from temporalio.service import RPCError
from holdfast.settings import Endpoints, Settings
from holdfast.temporal.temporal_connection import connect

async def main():
    endpoints = Endpoints(database_url="", temporal_address=sys.argv[1],
        temporal_namespace="default", temporal_ui=None, embedded_database=True,
        embedded_temporal=True)
    client = await connect(Settings(), endpoints, within_s=60)
    print("connected", flush=True)
    sys.stdin.readline()
    try:
        await client.workflow_service.get_system_info(
            GetSystemInfoRequest(), retry=True, timeout=timedelta(seconds=20))
    except RPCError as error:
        sys.stderr.write("lost\\n")

asyncio.run(main())
sys.stderr.flush()
os._exit(0)  # the client's threads can crash an interpreter that shuts down in order
"""


async def test_the_log_of_temporals_client_does_not_mix_with_results(temporal: Client) -> None:
    host, port = temporal.service_client.config.target_host.rsplit(":", 1)
    pipes: list[asyncio.StreamWriter] = []

    async def forward(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        other_reader, other = await asyncio.open_connection(host, int(port))
        pipes.extend((writer, other))
        await asyncio.gather(_pump(reader, other), _pump(other_reader, writer))

    server = await asyncio.start_server(forward, "127.0.0.1", 0)
    at = f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", _CALL_AFTER_LOSS, at),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    assert process.stdout
    assert await asyncio.wait_for(process.stdout.readline(), 60) == b"connected\n"
    server.close()
    for pipe in pipes:
        pipe.transport.abort()

    out, err = await asyncio.wait_for(process.communicate(b"\n"), 100)

    assert err.decode().splitlines()[-1:] == ["lost"], err.decode()
    assert out == b""


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while piece := await reader.read(65536):
            writer.write(piece)
    except OSError:
        return


@pytest.mark.conformance("SAF-08")
@pytest.mark.parametrize(
    ("sandbox", "is_good", "says"),
    [
        ("false", None, "bubblewrap is not installed (Debian: apt install bubblewrap): parsers"),
        ("true", False, "so lab (sandbox = true) cannot start; parsers of pages and documents"),
    ],
)
async def test_a_missing_sandbox_is_named_with_what_then_is_not_held(
    sandbox: str,
    is_good: bool | None,
    says: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = tmp_path / "holdfast.toml"
    path.write_text(f'[servers.lab]\ncommand = ["x"]\nsandbox = {sandbox}\n')
    monkeypatch.setenv("PATH", str(tmp_path))

    outcome = await check_sandbox(Settings(home=tmp_path, config_file=path), None)

    assert outcome.is_good is is_good
    assert says in outcome.detail
    assert "run with the files and the network of the worker" in outcome.detail


@pytest.mark.conformance("SAF-08")
async def test_a_sandbox_that_works_names_the_commands_that_run_without_it(
    tmp_path: Path,
) -> None:
    if (await find_sandbox()).bubblewrap is None:
        pytest.skip("no bubblewrap here")
    path = tmp_path / "holdfast.toml"
    path.write_text(
        '[servers.lab]\ncommand = ["x"]\nsandbox = true\n[servers.bare]\ncommand = ["x"]\n'
    )

    outcome = await check_sandbox(Settings(home=tmp_path, config_file=path), None)

    assert outcome.is_good
    assert "DuckDB and the commands of lab; the commands of bare run as the" in outcome.detail


async def test_the_servers_that_the_config_file_names_are_started(tmp_path: Path) -> None:
    path = tmp_path / "holdfast.toml"
    command = [sys.executable, str(Path(__file__).parents[1] / "servers" / "vocabulary_server.py")]
    path.write_text(f"[servers.words]\ncommand = {json.dumps(command)}\n")
    settings = Settings(home=tmp_path, config_file=path)

    works = await check_named_servers(settings, None)
    missing = '[servers.absent]\ncommand = ["no-such-command"]\n'
    path.write_text(missing + path.read_text())
    lacks = await check_named_servers(settings, None)
    path.write_text("")
    none = await check_named_servers(settings, None)

    assert (works.is_good, none.is_good) == (True, None), works.detail
    assert re.match(r"words \(\d+ tools\)", works.detail)
    assert lacks.is_good is False
    assert "no-such-command" in lacks.detail
    assert lacks.detail.startswith(works.detail)
    assert "[servers.NAME]" in lacks.remedy


async def test_each_server_that_does_not_start_is_named(tmp_path: Path) -> None:
    path = tmp_path / "holdfast.toml"
    leaves = json.dumps([sys.executable, "-c", "import sys; sys.exit('no licence')"])
    path.write_text(
        f'[servers.leaves]\ncommand = {leaves}\n[servers.absent]\ncommand = ["no-such-command"]\n'
    )

    outcome = await check_named_servers(Settings(home=tmp_path, config_file=path), None)

    assert outcome.is_good is False
    assert "'absent' cannot be reached" in outcome.detail
    assert "'leaves' cannot be reached" in outcome.detail
    assert "no licence" in (tmp_path / "logs" / "servers" / "leaves.log").read_text()


def test_the_check_of_tool_servers_waits_longer_than_a_server_may_take_to_start() -> None:
    assert health_checks._LIMITS_S[check_named_servers] > CONNECT_TIMEOUT.total_seconds()


async def test_a_check_that_was_short_of_time_runs_once_more_when_it_is_alone(
    tmp_path: Path,
) -> None:
    others_run, calls = asyncio.Event(), []

    async def well_alone(*_: object) -> CheckOutcome:
        calls.append("alone" if others_run.is_set() else "with others")
        if not others_run.is_set():
            return CheckOutcome(False, "no answer", "wait", ran_out_of_time=True)
        return CheckOutcome(True, "answers")

    async def other(*_: object) -> CheckOutcome:
        await asyncio.sleep(0)
        others_run.set()
        return CheckOutcome(False, "is not there", "start the part")

    checks = {"busy": well_alone, "other": other}
    outcomes = await health_checks._gather(checks, Settings(home=tmp_path), None)

    assert outcomes["busy"] == CheckOutcome(True, "answers")
    assert outcomes["other"].detail == "is not there"
    assert calls == ["with others", "alone"]
