"""Start the embedded PostgreSQL and Temporal of a home; end what is left of earlier ones first."""

from collections.abc import Callable, Iterable
from pathlib import Path

from holdfast.services import detached_processes
from holdfast.services.servers import (
    postgres_files,
    postgres_server,
    temporal_file,
    temporal_server,
)
from holdfast.services.servers.postgres_repairs import set_aside_incomplete
from holdfast.services.service_state import RunningProcess, ServiceState

StartupMessageCallback = Callable[[str], None]


def start_postgres(home: Path, state: ServiceState, say: StartupMessageCallback) -> None:
    """Start PostgreSQL and note its process in `state`.

    Raises:
        ServiceDown: the server does not start; the message shows its log.
    """
    for stray in living_processes(state.postgres, postgres_server.strays(home)):
        postgres_server.stop(stray)
    if kept := set_aside_incomplete(postgres_files.data_folder(home)):
        say(
            f"PostgreSQL's data folder was incomplete and is kept as {kept.name};"
            " the new database is empty"
        )
    state.postgres = postgres_server.start(home)


def start_temporal(home: Path, state: ServiceState, say: StartupMessageCallback) -> None:
    """Start Temporal on its earlier ports if they are free; note process and ports in `state`.

    Raises:
        ServiceDown: the server does not start; the message shows its log.
    """
    # Two servers on one SQLite file would damage the file.
    for stray in living_processes(state.temporal, temporal_server.strays(home)):
        temporal_server.stop(stray)
    if kept := temporal_file.set_aside_damaged(home):
        say(
            f"Temporal's file was damaged and is kept as {kept.name};"
            " the worker continues each running job from PostgreSQL"
        )
    if state.temporal_port:
        temporal_server.wait_until_free(state.temporal_port)
    ports = temporal_server.Ports(
        state.temporal_port or temporal_server.DEFAULT_PORTS.frontend,
        state.ui_port or temporal_server.DEFAULT_PORTS.ui,
    )
    state.temporal, ports = temporal_server.start(home, ports)
    state.temporal_port, state.ui_port = ports


def living_processes(
    recorded: RunningProcess | None, strays: Iterable[RunningProcess]
) -> list[RunningProcess]:
    """Return the recorded process, if it is alive, and the strays, each once."""
    processes_by_pid = {process.pid: process for process in strays}
    if recorded and detached_processes.is_alive(recorded):
        processes_by_pid[recorded.pid] = recorded
    return list(processes_by_pid.values())
