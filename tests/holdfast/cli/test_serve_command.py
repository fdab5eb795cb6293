"""Tests for `holdfast serve` as a process: its address, its warnings, its end."""

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

import httpx2
import pytest

from holdfast.api.access.installation_token import read_token
from holdfast.api.http_server import listening_socket
from holdfast.services.detached_processes import find_process
from holdfast.services.launch.page_server import PageServer, record_page_server
from tests.support.long_parameters import only_long
from tests.support.services.command_shell import CommandShell, command_shell

pytestmark = pytest.mark.slow


@pytest.fixture
def here() -> Iterator[CommandShell]:
    with command_shell() as here:
        yield here


@contextmanager
def serving(
    here: CommandShell, database_url: str, *words: str
) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """The running command, and the address that it printed."""
    process = here.started("serve", "--port", "0", *words, HOLDFAST_DATABASE_URL=database_url)
    try:
        assert process.stdout
        yield process, process.stdout.readline().decode().strip()
    finally:
        process.kill()
        process.communicate()


def key_of(here: CommandShell) -> dict[str, str]:
    """The header that a local client sends."""
    return {"Authorization": f"Bearer {read_token(here.home)}"}


@pytest.mark.parametrize("sent", [signal.SIGTERM, only_long(signal.SIGINT)])
def test_it_serves_at_the_address_that_it_prints_until_a_signal(
    sent: signal.Signals, here: CommandShell, database_url: str
) -> None:
    with serving(here, database_url) as (process, url):
        answer = httpx2.get(f"{url}/v1/jobs", headers=key_of(here), trust_env=False)
        process.send_signal(sent)
        out, err = process.communicate(timeout=30)

    assert url.startswith("http://127.0.0.1:")
    assert answer.json() == []
    assert process.returncode == 0
    assert out == b""
    assert b"warning" not in err
    assert b"Traceback" not in err
    assert b"Started server process" not in err, "the MCP SDK must not configure the logs"


@pytest.mark.long
def test_it_warns_where_others_can_reach_it(here: CommandShell, database_url: str) -> None:
    with serving(here, database_url, "--host", "0.0.0.0") as (process, url):
        port = url.rpartition(":")[2]
        answer = httpx2.get(
            f"http://127.0.0.1:{port}/v1/jobs",
            headers={"Host": "research.example", **key_of(here)},
            trust_env=False,
        )
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=30)

    assert answer.status_code == 200
    assert b"warning: other computers can reach this address" in err


def test_a_port_that_is_taken_is_named_with_the_way_out(here: CommandShell) -> None:
    listening = listening_socket("127.0.0.1", 0)
    port = listening.getsockname()[1]

    ran = here.holdfast("serve", "--port", str(port))
    listening.close()

    assert ran.code == 2
    assert f"port {port}" in ran.refused()
    assert "--port" in ran.refused()


def test_a_port_of_the_pages_own_server_is_named_as_that(here: CommandShell) -> None:
    listening = listening_socket("127.0.0.1", 0)
    port = listening.getsockname()[1]
    this_process = find_process(os.getpid())
    assert this_process
    here.home.mkdir()
    url = f"http://127.0.0.1:{port}"
    record_page_server(here.home, PageServer(process=this_process, url=url, settings_mark=""))

    ran = here.holdfast("serve", "--port", str(port))
    listening.close()
    (here.home / "page_server.json").unlink()

    assert ran.code == 2
    assert f"the page's server of this installation has port {port}" in ran.refused()
    assert f"API and MCP at {url}" in ran.refused()


def test_a_host_that_leads_nowhere_is_named(here: CommandShell) -> None:
    ran = here.holdfast("serve", "--host", "no.such.host.invalid", "--port", "0")

    assert ran.code == 2
    assert "'no.such.host.invalid'" in ran.refused()


def test_an_installation_that_does_not_run_is_said_not_to(here: CommandShell) -> None:
    ran = here.holdfast("serve", "--port", "0")

    assert ran.code == 1
    assert "holdfast up" in ran.refused()
    assert not here.has_started_services
