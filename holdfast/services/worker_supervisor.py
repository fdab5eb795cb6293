"""Keep one worker process running: start a worker, wait for its end, and start the next one."""

import gc
import os
import signal
import sys
import time
import traceback
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import NoReturn

import structlog

from holdfast.services import detached_processes, process_signals
from holdfast.services.worker_identity import WorkerDeath, WorkerLaunch, worker_identity_of

EXIT_REFUSED = 2
"""The exit code of a worker that cannot use its configuration; a restart would not help."""

READY_FILE_VARIABLE = "HOLDFAST_READY_FILE"
"""The variable with the path of the file that exists while a worker polls."""

_SHORT_RUN_S = 10.0
_MIN_DELAY_S = 1.0
_MAX_DELAY_S = 30.0
_MAX_REPORTED_DEATHS = 8  # deaths before a takeover are passed on to the next worker

log = structlog.get_logger(__name__)


def restart_delay_s(short_lives: int) -> float:
    """Return the pause before the next start, by the number of consecutive early deaths.

    Zero after a long life (0) and after the first early death, then 1, 2, 4, ... 30 seconds.
    """
    return 0.0 if short_lives < 2 else min(_MAX_DELAY_S, 2.0 ** min(short_lives - 2, 8))


def ready_file() -> Path | None:
    """Return the file that exists while a worker polls, or None if none is configured."""
    name = os.environ.get(READY_FILE_VARIABLE)
    return Path(name) if name else None


def pid_file(ready: Path) -> Path:
    """Return the file with the current worker process, a RunningProcess as JSON."""
    return ready.with_suffix(".pid")


@dataclass
class Supervisor:
    """Run `work` in one child process after another; its result is the child's exit code.

    If a fork is not safe, `command` runs instead, with the launch data as JSON at its end.
    """

    work: Callable[[WorkerLaunch], int]
    command: Sequence[str]
    inbox: process_signals.SignalInbox = field(default_factory=process_signals.SignalInbox)
    deaths: deque[WorkerDeath] = field(default_factory=lambda: deque(maxlen=_MAX_REPORTED_DEATHS))
    short_lives: int = 0

    def run(self) -> int:
        """Supervise until SIGTERM or SIGINT (0), or until a worker refuses its configuration."""
        process_signals.adopt_orphans()
        # The collector does not write to frozen objects, so the workers share their memory.
        gc.collect()
        gc.freeze()
        with self.inbox:
            while not self.inbox.is_stopping:
                if self._one_life() == EXIT_REFUSED:
                    return EXIT_REFUSED
        return 0

    def _one_life(self) -> int:
        """Start a worker, await its end and a pause if needed; return its exit code."""
        began = time.monotonic()
        life = WorkerLaunch(supervisor=os.getpid(), deaths=tuple(self.deaths))
        try:
            pid = self._start(life)
        except OSError as error:
            return self._pause_without_worker(error)
        identity = worker_identity_of(pid, life.token)
        log.info("supervisor.worker_started", worker=identity)
        _write_pid_file(pid)
        code = self._wait(pid)
        death = WorkerDeath(identity=identity, died_at=datetime.now(UTC))
        _remove_worker_files()
        # Nobody can use the tool servers that the dead worker has started.
        detached_processes.kill_descendants()
        if code != EXIT_REFUSED and not self.inbox.is_stopping:
            self._pause_after(death, code, time.monotonic() - began)
        return code

    def _pause_after(self, death: WorkerDeath, code: int, lived_s: float) -> None:
        self.deaths.append(death)
        self.short_lives = self.short_lives + 1 if lived_s < _SHORT_RUN_S else 0
        pause = restart_delay_s(self.short_lives)
        log.warning("supervisor.worker_ended", worker=death.identity, code=code, restart_in_s=pause)
        self.inbox.pause(pause)

    def _pause_without_worker(self, error: OSError) -> int:
        """Report that the system cannot start a process now, for example for lack of memory."""
        self.short_lives += 1
        pause = max(_MIN_DELAY_S, restart_delay_s(self.short_lives))
        log.error("supervisor.cannot_start", error=str(error), again_in_s=pause)
        self.inbox.pause(pause)
        return os.EX_OSERR

    def _start(self, life: WorkerLaunch) -> int:
        if not process_signals.is_safe_to_fork():
            return process_signals.spawn_process([*self.command, life.model_dump_json()])
        sys.stderr.flush()
        with process_signals.signals_blocked():
            pid = os.fork()
            if pid == 0:
                self.inbox.discard()
        if pid == 0:
            _run_forked_worker(self.work, life)
        return pid

    def _wait(self, pid: int) -> int:
        """Return the worker's exit code; pass a request to end on to the worker, once."""
        while (code := _exit_code(pid)) is None:
            was_stopping = self.inbox.is_stopping
            self.inbox.wait_for_signal()
            if self.inbox.is_stopping and not was_stopping:
                os.kill(pid, signal.SIGTERM)
        return code


def _run_forked_worker(work: Callable[[WorkerLaunch], int], life: WorkerLaunch) -> NoReturn:
    """Run the worker in the forked child and exit; no supervisor code may run afterwards."""
    code = 1
    try:
        code = work(life)
    except BaseException:
        # No exception may reach the supervisor's code.
        traceback.print_exc()
    finally:
        with suppress(OSError):
            sys.stderr.flush()
        os._exit(code)


def _exit_code(worker: int) -> int | None:
    """Return the worker's exit code, or None while it runs; reap its orphaned children too."""
    while True:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid == worker:
            return os.waitstatus_to_exitcode(status)
        if pid == 0:
            return None


def _write_pid_file(pid: int) -> None:
    ready, process = ready_file(), detached_processes.find_process(pid)
    if ready is None or process is None:
        return
    new = pid_file(ready).with_suffix(".new")
    new.write_text(process.model_dump_json())
    new.replace(pid_file(ready))


def _remove_worker_files() -> None:
    if ready := ready_file():
        ready.unlink(missing_ok=True)
        pid_file(ready).unlink(missing_ok=True)
