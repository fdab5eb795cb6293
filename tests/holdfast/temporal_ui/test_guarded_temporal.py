"""Tests for the ports of the embedded Temporal: no web page can read a history or control a job."""

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import httpx2
import psutil
import pytest

from holdfast.services import detached_processes
from holdfast.services.servers import temporal_server, ui_guard_process
from holdfast.services.servers.temporal_server import Ports
from holdfast.services.servers.ui_guard_process import address_of, guards_of
from holdfast.services.service_state import RunningProcess

pytestmark = pytest.mark.slow

READ = "/api/v1/namespaces/default/workflows"
TERMINATE = f"{READ}/job-1/terminate"
FOREIGN = {"Origin": "http://evil.example", "Content-Type": "text/plain"}

_READY_WITHIN_S = 60.0


class GuardedTemporal:
    """A Temporal server with its guard in a folder of its own."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.process, self.ports = temporal_server.start(home, Ports(0, 0))

    @property
    def guard(self) -> RunningProcess:
        [guard] = guards_of(self.process)
        return guard

    def get(self, path: str, **headers: str) -> httpx2.Response:
        return httpx2.get(f"http://127.0.0.1:{self.ports.ui}{path}", headers=headers, timeout=20)

    def get_when_ready(self, path: str) -> httpx2.Response:
        """The answer once the UI has reached Temporal: until then it answers 503."""
        end = time.monotonic() + _READY_WITHIN_S
        while (answer := self.get(path)).status_code == 503 and time.monotonic() < end:
            time.sleep(0.1)
        return answer


@pytest.fixture
def temporal_process(tmp_path: Path) -> Iterator[GuardedTemporal]:
    (tmp_path / "logs").mkdir()
    server = GuardedTemporal(tmp_path)
    yield server
    temporal_server.stop(server.process)
    assert not detached_processes.find_by_arguments("--home", str(tmp_path))


@pytest.mark.conformance("SAF-05")
def test_no_port_of_temporal_answers_a_web_page(temporal_process: GuardedTemporal) -> None:
    ui = address_of(temporal_process.process)
    assert ui is not None
    listening = {
        (c.laddr.ip, c.laddr.port)
        for c in psutil.Process(temporal_process.process.pid).net_connections("tcp")
        if c.status == psutil.CONN_LISTEN
    }
    known = [port for _, port in listening - {tuple(ui)}] + [temporal_process.ports.ui]

    assert tuple(ui) in listening
    assert len(known) > 3
    for port in known:
        for headers in (FOREIGN, {**FOREIGN, "Host": f"evil.example:{port}"}):
            for method in ("GET", "POST"):
                assert not _succeeds(method, f"http://127.0.0.1:{port}", headers), port


def _succeeds(method: str, base: str, headers: dict[str, str]) -> bool:
    """True if any answer of the port could be that of Temporal's API."""
    paths = (READ, f"/namespaces/default{READ}") if method == "GET" else (TERMINATE,)
    for path in paths:
        try:
            status = httpx2.request(method, base + path, headers=headers, timeout=20).status_code
        except httpx2.HTTPError:
            continue
        # 404 of the metrics, which have no such path; the API itself refuses with 403.
        if status not in (403, 404):
            return True
    return False


@pytest.mark.conformance("SAF-05")
def test_the_user_reads_the_ui_through_the_guard(temporal_process: GuardedTemporal) -> None:
    page = temporal_process.get("/namespaces/default/workflows")
    read = temporal_process.get_when_ready(READ)

    assert "<!doctype html>" in page.text
    assert page.headers["x-frame-options"] == "DENY"
    assert read.status_code == 200
    assert read.json().keys() <= {"executions", "nextPageToken"}
    assert temporal_process.get(READ, Host="evil.example").status_code == 403


@pytest.mark.long
def test_the_address_of_the_ui_itself_is_new_at_each_start(
    temporal_process: GuardedTemporal,
) -> None:
    before = address_of(temporal_process.process)
    temporal_server.stop(temporal_process.process)

    process, ports = temporal_server.start(temporal_process.home, temporal_process.ports)
    temporal_process.process = process

    assert ports == temporal_process.ports
    assert address_of(process) != before


@pytest.mark.long
def test_a_killed_guard_is_started_again_at_the_same_port(
    temporal_process: GuardedTemporal,
) -> None:
    killed = temporal_process.guard
    os.kill(killed.pid, signal.SIGKILL)
    assert detached_processes.wait_until_gone(killed, 10)

    port = temporal_server.ensure_guard(
        temporal_process.home, temporal_process.process, temporal_process.ports.ui
    )

    assert port == temporal_process.ports.ui
    assert temporal_process.get("/").status_code == 200


@pytest.mark.long
def test_a_guard_ends_with_its_server(temporal_process: GuardedTemporal) -> None:
    guard = temporal_process.guard

    os.kill(temporal_process.process.pid, signal.SIGKILL)

    assert detached_processes.wait_until_gone(guard, 10)


def test_a_guard_gets_no_secret_of_the_environment(
    temporal_process: GuardedTemporal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    ui_guard_process.stop_guards([temporal_process.guard])

    temporal_server.ensure_guard(
        temporal_process.home, temporal_process.process, temporal_process.ports.ui
    )

    assert "OPENAI_API_KEY" not in psutil.Process(temporal_process.guard.pid).environ()
