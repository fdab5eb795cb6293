"""Start, probe and stop the embedded PostgreSQL server and create its database."""

import signal
import socket
import time
from pathlib import Path
from urllib.parse import quote

from holdfast.models.errors import ServiceDown
from holdfast.services import detached_processes
from holdfast.services.servers import postgres_account, postgres_files
from holdfast.services.servers.postgres_processes import server_mark, servers_on
from holdfast.services.service_state import RunningProcess

DATABASE = "holdfast"

_START_TIMEOUT_S = 60.0  # after a crash PostgreSQL replays its log first
_POLL_INTERVAL_S = 0.02

# SIGINT is PostgreSQL's fast shutdown, SIGQUIT its immediate one; both keep the data intact.
_STOP_SIGNALS = ((signal.SIGINT, 20.0), (signal.SIGQUIT, 10.0), (signal.SIGKILL, 30.0))

_PARAMETERS = {
    "listen_addresses": "",
    "unix_socket_permissions": "0700",
    "max_connections": "200",
    "shared_buffers": "128MB",
    # A demonstration writes 2.5 MB of log, so about one checkpoint in 13 of them is early. 49 MB of
    # calls took no longer and wrote no more log than with 512 MB, which homes filled with log.
    "max_wal_size": "64MB",
    "min_wal_size": "32MB",
    "jit": "off",  # compiling our short queries takes longer than running them
    "TimeZone": "UTC",
    "log_timezone": "UTC",
}


def start(home: Path) -> RunningProcess:
    """Start the server, create cluster and database unless they exist, and return the process.

    Raises:
        ServiceDown: the server does not start; the message shows the end of its log.
    """
    user = postgres_account.server_user()
    postgres_files.prepare_cluster(home, user)
    given_up = time.monotonic() + _START_TIMEOUT_S
    while time.monotonic() < given_up:
        process = _launch(home, user)
        if process and _wait_until_ready(home, process, given_up):
            return process
        if not _is_predecessor_alive(home):
            break
        time.sleep(_POLL_INTERVAL_S * 5)
    raise _failure(home)


def is_postgres_answering(home: Path) -> bool:
    """True if the server accepts connections now."""
    with socket.socket(socket.AF_UNIX) as probe:
        probe.settimeout(1)
        try:
            probe.connect(str(postgres_files.socket_folder(home) / postgres_files.SOCKET_NAME))
        except OSError:
            return False
    return True


def stop(process: RunningProcess) -> None:
    """Stop the server: roll back open transactions and write everything to disk."""
    detached_processes.terminate_process(process, _STOP_SIGNALS)


def strays(home: Path) -> list[RunningProcess]:
    """Return the servers of this home, also those missing in the state file."""
    return servers_on(postgres_files.data_folder(home))


def url(home: Path) -> str:
    """Return the address of the database `holdfast` for SQLAlchemy."""
    return plain_url(home).replace("postgresql://", "postgresql+psycopg://", 1)


def _launch(home: Path, user: str | None) -> RunningProcess | None:
    parameters = [part for item in _PARAMETERS.items() for part in ("-c", "=".join(item))]
    data, sockets = postgres_files.server_folders(home, user)
    return detached_processes.start_detached(
        [
            str(postgres_account.server_program("postgres", user)),
            "-D",
            str(data),
            "-k",
            str(sockets),
            *server_mark(postgres_files.data_folder(home)),
            *parameters,
        ],
        log=postgres_files.log_file(home),
        env=detached_processes.service_environment(),
        cwd=postgres_files.data_folder(home),
        user=user,
    )


def _wait_until_ready(home: Path, process: RunningProcess, given_up: float) -> bool:
    import psycopg

    while detached_processes.is_alive(process) and time.monotonic() < given_up:
        try:
            with psycopg.connect(plain_url(home, "postgres"), autocommit=True) as connection:
                row = connection.execute(
                    "select 1 from pg_database where datname = %s", [DATABASE]
                ).fetchone()
                if row is None:
                    connection.execute(f"create database {DATABASE}")
                return True
        except psycopg.OperationalError:
            time.sleep(_POLL_INTERVAL_S)
    return False


def _is_predecessor_alive(home: Path) -> bool:
    # The backends of a killed server need a moment to notice that the server has ended.
    end_of_log = detached_processes.last_lines(postgres_files.log_file(home), 3)
    return "is still in use" in end_of_log or "already exists" in end_of_log


def plain_url(home: Path, database: str = DATABASE) -> str:
    """Return the address of a database for psycopg and PostgreSQL's programs."""
    folder = quote(str(postgres_files.socket_folder(home)), safe="/")
    return f"postgresql://postgres@/{database}?host={folder}"


def _failure(home: Path) -> ServiceDown:
    log = postgres_files.log_file(home)
    return ServiceDown(
        f"the embedded PostgreSQL did not start; {str(log)!r} ends with:\n"
        f"{detached_processes.last_lines(log)}"
    )
