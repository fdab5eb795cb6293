"""Tests that the embedded Temporal starts whatever happened to its file."""

import os
import signal
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from holdfast.services.servers import temporal_file, temporal_server, ui_guard_process
from holdfast.services.servers.temporal_server import Ports
from tests.support.long_parameters import only_long

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


@pytest.mark.parametrize(
    "damage", [b"SQLite format 3\0" + b"\xff" * 5000, *map(only_long, (b"", b"no database"))]
)
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


@pytest.mark.parametrize("after_ms", [30, *map(only_long, (0, 10, 60, 120))])
def test_a_kill_while_the_file_is_made_leaves_nothing_broken(home: Path, after_ms: int) -> None:
    making = temporal_file.unfinished_file(home)
    first = temporal_server._launch(
        making, temporal_server._free_port(), ui_guard_process.draw_address()
    )
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
