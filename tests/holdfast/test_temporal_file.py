"""Tests that the embedded Temporal starts whatever happened to its file, and answers no web page."""

import http.client
import os
import signal
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from holdfast.services import temporal_file, temporal_server
from holdfast.services.temporal_server import Ports

pytestmark = pytest.mark.slow


@pytest.fixture
def home() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="hf-") as folder:
        home = Path(folder)
        (home / "logs").mkdir()
        yield home
        for server in temporal_server.strays(home):
            temporal_server.stop(server)


def start(home: Path) -> Ports:
    _, ports = temporal_server.start(home, Ports(0, 0))
    return ports


def stop(home: Path) -> None:
    for server in temporal_server.strays(home):
        temporal_server.stop(server)


@pytest.mark.parametrize("damage", [b"", b"no database", b"SQLite format 3\0" + b"\xff" * 5000])
def test_a_damaged_file_is_set_aside_and_a_new_one_is_made(home: Path, damage: bytes) -> None:
    start(home)
    stop(home)
    file = temporal_file.database_file(home)
    for suffix in ("-wal", "-shm"):
        Path(f"{file}{suffix}").unlink(missing_ok=True)
    file.write_bytes(damage)

    kept = temporal_file.set_aside_damaged(home)
    start(home)

    assert kept is not None
    assert kept.read_bytes() == damage
    assert temporal_file.set_aside_damaged(home) is None


@pytest.mark.parametrize("after_ms", [0, 10, 30, 60, 120])
def test_a_kill_while_the_file_is_made_leaves_nothing_broken(home: Path, after_ms: int) -> None:
    making = temporal_file.unfinished_file(home)
    first = temporal_server._launch(making, temporal_server._free_ports())
    assert first
    while not making.exists():
        time.sleep(0.001)
    time.sleep(after_ms / 1000)
    os.kill(first.pid, signal.SIGKILL)
    psutil.wait_procs([psutil.Process(first.pid)] if psutil.pid_exists(first.pid) else [], 1)

    assert not temporal_file.database_file(home).exists()
    assert temporal_file.set_aside_damaged(home) is None
    ports = start(home)

    assert temporal_server.is_temporal_answering(ports.frontend)
    assert not making.exists()


def test_the_http_api_answers_no_web_page(home: Path) -> None:
    ports = start(home)
    (server,) = temporal_server.strays(home)
    listening = {
        each.laddr.port
        for each in psutil.Process(server.pid).net_connections("tcp")
        if each.status == psutil.CONN_LISTEN
    }

    answers = {port: _statuses(port) for port in listening - {ports.frontend, ports.ui}}

    assert {403} in answers.values()
    assert not any(status == 200 for statuses in answers.values() for status in statuses)
    end = time.monotonic() + 20
    while 200 not in _statuses(ports.ui):  # the UI starts after the server
        assert time.monotonic() < end
        time.sleep(0.1)


def _statuses(port: int) -> set[int]:
    """What a page can get: a read after a change of its host's address, and a simple POST."""
    requests = (
        ("GET", "/api/v1/namespaces", {"Host": "evil.example"}),
        ("GET", "/api/v1/namespaces", {}),
        (
            "POST",
            "/api/v1/namespaces/default/workflows/job-1/terminate",
            {"Content-Type": "text/plain", "Origin": "http://evil.example"},
        ),
    )
    statuses = set()
    for method, path, headers in requests:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
        try:
            connection.request(method, path, "{}" if method == "POST" else None, headers)
            statuses.add(connection.getresponse().status)
        except (OSError, http.client.HTTPException):
            statuses.add(0)  # no HTTP here
        finally:
            connection.close()
    return statuses
