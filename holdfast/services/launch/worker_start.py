"""Start the supervisor of the local worker, and wait until its worker polls.

The wait has no fixed end, because a busy machine takes minutes: it goes on while the starting
worker uses CPU time, and ends with the cause otherwise.
"""

import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import psutil

from holdfast.models.errors import ServiceDown
from holdfast.services import detached_processes
from holdfast.services.launch.worker_process import COMMAND, current_worker, is_polling
from holdfast.services.launch.worker_settings import worker_environment
from holdfast.services.service_state import RunningProcess
from holdfast.services.supervisor.worker_files import ready_file_of
from holdfast.settings import Endpoints, Settings

_MAX_ENDED_WORKERS = 3
_MAX_IDLE_S = 30.0
_MAX_WAIT_S = 600.0
_PROGRESS_CPU_S = 0.3
_POLL_INTERVAL_S = 0.02


@dataclass(frozen=True)
class StartingSupervisor:
    """A supervisor that was started, and where its log began."""

    home: Path
    process: RunningProcess
    log_offset: int

    def failure(self, what: str) -> ServiceDown:
        """Return the error with the log lines of this start."""
        return _failure(self.home, what, self.log_offset)


def launch_supervisor(
    settings: Settings, endpoints: Endpoints, certificates: Mapping[str, str]
) -> StartingSupervisor:
    """Start the supervisor; its worker does not poll yet.

    Raises:
        ServiceDown: the supervisor ended at once; the message shows its log.
    """
    home = settings.home
    ready_file_of(home).unlink(missing_ok=True)
    log = _log_file(home)
    offset = detached_processes.log_size(log)
    process = detached_processes.start_detached(
        [sys.executable, *COMMAND, "--supervise"],
        log=log,
        env=worker_environment(settings, endpoints, certificates),
        # Relative paths in holdfast.toml start at the folder of the file.
        cwd=settings.config_file.parent if settings.config_file else home,
    )
    if process is None:
        raise _failure(home, "ended at once", offset)
    return StartingSupervisor(home, process, offset)


@dataclass(frozen=True)
class StartObservation:
    """What can be seen of a starting worker: its pid, if there is one, and its CPU time."""

    at_s: float
    pid: int | None
    cpu_s: float


@dataclass
class StartProgress:
    """Judge whether a worker is still starting."""

    began: StartObservation | None = None
    last_progress: StartObservation | None = None
    pids: frozenset[int] = frozenset()

    def fault(self, now: StartObservation) -> str | None:
        """Return why the worker will not get ready; None while it makes progress."""
        self.began = self.began or now
        if now.pid is not None:
            self.pids |= {now.pid}
        before = self.last_progress
        is_new = before is None or now.pid != before.pid
        if before is None or is_new or now.cpu_s - before.cpu_s >= _PROGRESS_CPU_S:
            self.last_progress = before = now
        if len(self.pids) > _MAX_ENDED_WORKERS:
            return f"ended {_MAX_ENDED_WORKERS} times while it started"
        if now.at_s - before.at_s > _MAX_IDLE_S:
            return f"does not poll and has done nothing for {_MAX_IDLE_S:g} s"
        if now.at_s - self.began.at_s > _MAX_WAIT_S:
            return f"does not poll after {_MAX_WAIT_S / 60:g} minutes"
        return None


def wait_until_ready(start: StartingSupervisor) -> None:
    """Wait until the worker polls.

    Raises:
        ServiceDown: the supervisor ended, or its worker makes no progress; shows its log.
    """
    progress = StartProgress()
    while not is_polling(start.home):
        if not detached_processes.is_alive(start.process):
            raise start.failure("ended while it started")
        if fault := progress.fault(_observe(start)):
            raise start.failure(fault)
        time.sleep(_POLL_INTERVAL_S)


def _observe(start: StartingSupervisor) -> StartObservation:
    """Return how far the worker is; before it exists, its supervisor is what starts."""
    worker = current_worker(start.home)
    cpu_s = 0.0
    try:
        times = psutil.Process((worker or start.process).pid).cpu_times()
        cpu_s = times.user + times.system
    except psutil.Error:
        worker = None
    return StartObservation(time.monotonic(), worker.pid if worker else None, cpu_s)


def _log_file(home: Path) -> Path:
    return home / "logs" / "worker.log"


def _failure(home: Path, what: str, log_offset: int) -> ServiceDown:
    log = _log_file(home)
    lines = detached_processes.last_lines(log, offset=log_offset)
    if not lines:
        return ServiceDown(f"the worker {what}, and wrote nothing to {str(log)!r}")
    return ServiceDown(
        f"the worker {what}; {str(log)!r} ends with:\n{lines}\n"
        "repair the fault that it names and run `holdfast up` again"
    )
