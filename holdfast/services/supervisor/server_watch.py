"""Start the embedded PostgreSQL and Temporal again when one of them has died.

The supervisor only looks whether their processes are alive. A process of its own starts them, under
the lock of the home: the supervisor must go on, and must have no threads. The started servers are
descendants of the supervisor, which adopts orphans, so they are spared when a worker's are killed.
"""

import argparse
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import structlog

from holdfast.configuration.json_logs import configure_logs
from holdfast.models.errors import HoldfastError
from holdfast.services import detached_processes
from holdfast.services.servers import server_starts, ui_guard_process
from holdfast.services.service_state import ServiceState, home_lock, load_state, save_state
from holdfast.services.supervisor import process_signals
from holdfast.services.supervisor.restart_pauses import restart_delay_s

_Start = Callable[[Path, ServiceState, server_starts.StartupMessageCallback], None]
_STARTS: dict[str, _Start] = {
    "PostgreSQL": server_starts.start_postgres,
    "Temporal": server_starts.start_temporal,
}

log = structlog.get_logger(__name__)


@dataclass
class ServerWatch:
    """Start the servers of `home` that have died; look at them about once a second."""

    home: Path
    starter: int | None = None
    workers_port: int | None = None
    """The port of Temporal when the worker was started."""
    failures: int = 0
    not_before_s: float = 0.0

    def look(self) -> None:
        """Start a process that starts the dead servers, unless one is at work."""
        if self.starter is not None or time.monotonic() < self.not_before_s:
            return
        if dead := _dead_servers(load_state(self.home)):
            log.warning("supervisor.servers_died", servers=dead)
            command = [sys.executable, "-P", "-m", __name__, str(self.home), str(os.getpid())]
            self.starter = process_signals.spawn_process(command)

    def note_worker_start(self) -> None:
        """Take note of the port that the next worker connects to."""
        self.workers_port = load_state(self.home).temporal_port

    @property
    def has_temporal_moved(self) -> bool:
        """True if Temporal listens at another port than when the worker was started.

        Another process may have taken the port of a Temporal that died.
        """
        return load_state(self.home).temporal_port != self.workers_port

    @property
    def pids(self) -> frozenset[int]:
        """Return the pids of the servers, which outlive the worker and its supervisor."""
        return outliving_pids(self.home, os.getpid())

    def note_end(self, pid: int, code: int) -> None:
        """Take note that a child process has ended; after a failure the next start waits longer."""
        if pid == self.starter:
            self.starter = None
            self.failures = self.failures + 1 if code else 0
            self.not_before_s = time.monotonic() + restart_delay_s(self.failures)


def outliving_pids(home: Path, supervisor: int) -> frozenset[int]:
    """Return the pids of the home's servers, and of a guard below the supervisor."""
    return load_state(home).server_pids | ui_guard_process.guards_below(supervisor)


def restart_dead_servers(home: Path, supervisor: int) -> bool:
    """Start the servers that have died; True if all run now.

    Nothing happens if `supervisor` has ended: then `holdfast down` may be at work.
    """
    with home_lock(home):
        if os.getppid() != supervisor:
            return True
        state = load_state(home)
        outcomes = [_restarted(home, state, name) for name in _dead_servers(state)]
        return all(outcomes)


def _restarted(home: Path, state: ServiceState, name: str) -> bool:
    try:
        _STARTS[name](home, state, lambda line: log.warning("server.said", message=line))
    except HoldfastError as error:
        log.error("server.not_restarted", server=name, error=str(error))  # noqa: TRY400 - its log is in the message
        return False
    save_state(home, state)
    log.warning("server.restarted", server=name)
    return True


def _dead_servers(state: ServiceState) -> list[str]:
    """Return the names of the servers that `up` started, that nobody stopped, and that ended."""
    recorded = {"PostgreSQL": state.postgres, "Temporal": state.temporal}
    return [
        name
        for name, process in recorded.items()
        if process is not None and not detached_processes.is_alive(process)
    ]


def main() -> None:
    """`python -m holdfast.services.supervisor.server_watch HOME SUPERVISOR`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("home", type=Path)
    parser.add_argument("supervisor", type=int)
    options = parser.parse_args()
    configure_logs()
    process_signals.end_with_parent(options.supervisor)
    sys.exit(0 if restart_dead_servers(options.home, options.supervisor) else 1)


if __name__ == "__main__":
    main()
