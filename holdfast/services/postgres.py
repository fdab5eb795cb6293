"""The embedded PostgreSQL's process, and the database `holdfast` in it."""

import signal
import socket
import time
from pathlib import Path
from urllib.parse import quote

from holdfast.services import cluster, processes
from holdfast.services.state import RunningProcess
from models.errors import ServiceDown

DATABASE = "holdfast"

_START_WITHIN_S = 60.0  # after a crash it replays its log first
_LOOK_AGAIN_S = 0.02

# SIGINT is PostgreSQL's fast shutdown, SIGQUIT its immediate one; both leave the data whole.
_ENDING = ((signal.SIGINT, 20.0), (signal.SIGQUIT, 10.0), (signal.SIGKILL, 5.0))

_PARAMETERS = {
    "listen_addresses": "",
    "unix_socket_permissions": "0700",
    "max_connections": "200",
    "shared_buffers": "128MB",
    "max_wal_size": "512MB",
    "jit": "off",  # our queries are short; compiling them takes longer than running them
    "TimeZone": "UTC",
    "log_timezone": "UTC",
}


def start(home: Path) -> RunningProcess:
    """The server's process, ready, with the database in it; a cluster is made where none is.

    Raises:
        ServiceDown: it cannot be started; the message shows the end of its log.
    """
    user = cluster.server_user()
    cluster.prepare(home, user)
    given_up = time.monotonic() + _START_WITHIN_S
    while time.monotonic() < given_up:
        process = _launch(home, user)
        if process and _becomes_ready(home, process, given_up):
            return process
        if not _predecessor_lingers(home):
            break
        time.sleep(_LOOK_AGAIN_S * 5)
    raise _failure(home)


def answers(home: Path) -> bool:
    """Whether the server takes connections now."""
    with socket.socket(socket.AF_UNIX) as probe:
        probe.settimeout(1)
        try:
            probe.connect(str(cluster.socket_folder(home) / cluster.SOCKET_NAME))
        except OSError:
            return False
    return True


def stop(process: RunningProcess) -> None:
    """A clean shutdown: open transactions are rolled back, everything is on disk."""
    processes.end(process, _ENDING)


def strays(home: Path) -> list[RunningProcess]:
    """Servers on this cluster, whether or not the state knows them."""
    return processes.running_with("-D", str(cluster.data_folder(home)))


def url(home: Path) -> str:
    """Where SQLAlchemy finds the database `holdfast`."""
    return _plain_url(home, DATABASE).replace("postgresql://", "postgresql+psycopg://", 1)


def _launch(home: Path, user: str | None) -> RunningProcess | None:
    parameters = [part for item in _PARAMETERS.items() for part in ("-c", "=".join(item))]
    data, sockets = str(cluster.data_folder(home)), str(cluster.socket_folder(home))
    return processes.start_detached(
        [str(cluster.program("postgres")), "-D", data, "-k", sockets, *parameters],
        log=cluster.log_file(home),
        cwd=cluster.data_folder(home),
        user=user,
    )


def _becomes_ready(home: Path, process: RunningProcess, given_up: float) -> bool:
    import psycopg

    while processes.is_alive(process) and time.monotonic() < given_up:
        try:
            with psycopg.connect(_plain_url(home, "postgres"), autocommit=True) as connection:
                there = connection.execute(
                    "select 1 from pg_database where datname = %s", [DATABASE]
                ).fetchone()
                if there is None:
                    connection.execute(f"create database {DATABASE}")
                return True
        except psycopg.OperationalError:
            time.sleep(_LOOK_AGAIN_S)
    return False


def _predecessor_lingers(home: Path) -> bool:
    # The backends of a server that was killed need a moment to notice that it is gone.
    end_of_log = processes.last_lines(cluster.log_file(home), 3)
    return "is still in use" in end_of_log or "already exists" in end_of_log


def _plain_url(home: Path, database: str) -> str:
    folder = quote(str(cluster.socket_folder(home)), safe="/")
    return f"postgresql://postgres@/{database}?host={folder}"


def _failure(home: Path) -> ServiceDown:
    log = cluster.log_file(home)
    return ServiceDown(
        f"the embedded PostgreSQL did not start; {str(log)!r} ends with:\n"
        f"{processes.last_lines(log)}"
    )
