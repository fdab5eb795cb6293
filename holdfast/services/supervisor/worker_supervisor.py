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
from typing import NoReturn

import structlog

from holdfast.services import detached_processes
from holdfast.services.supervisor import process_signals
from holdfast.services.supervisor.loop_pulse import STACK_SIGNAL, LoopPulse
from holdfast.services.supervisor.restart_pauses import restart_delay_s
from holdfast.services.supervisor.server_watch import ServerWatch
from holdfast.services.supervisor.stall_watch import StallWatch, observe
from holdfast.services.supervisor.worker_files import remove_worker_files, write_pid_file
from holdfast.services.supervisor.worker_identity import (
    WorkerDeath,
    WorkerLaunch,
    worker_identity_of,
)

EXIT_REFUSED = 2
"""The exit code of a worker that cannot use its configuration; a restart would not help."""

_SHORT_RUN_S = 10.0
_MIN_DELAY_S = 1.0
_STALL_LIMIT_S = 5.0
_WATCH_INTERVAL_S = 1.0
_STACK_TIME_S = 0.2  # for the worker, to write its stack to the log
_MAX_REPORTED_DEATHS = 8  # deaths before a takeover are passed on to the next worker

log = structlog.get_logger(__name__)


@dataclass
class Supervisor:
    """Run `work` in one child process after another; its result is the child's exit code.

    If a fork is not safe, `command` runs instead, with the launch data as JSON at its end. The
    embedded servers of a home are started again when they die.
    """

    work: Callable[[WorkerLaunch], int]
    command: Sequence[str]
    servers: ServerWatch | None = None
    inbox: process_signals.SignalInbox = field(default_factory=process_signals.SignalInbox)
    deaths: deque[WorkerDeath] = field(default_factory=lambda: deque(maxlen=_MAX_REPORTED_DEATHS))
    pulse: LoopPulse = field(default_factory=LoopPulse.create)
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
        self.pulse.clear()
        life = WorkerLaunch(
            supervisor=os.getpid(), pulse=self.pulse.descriptor, deaths=tuple(self.deaths)
        )
        if self.servers:
            self.servers.note_worker_start()
        try:
            pid = self._start(life)
        except OSError as error:
            return self._pause_without_worker(error)
        identity = worker_identity_of(pid, life.token)
        log.info("supervisor.worker_started", worker=identity)
        write_pid_file(pid)
        code, was_still = self._wait(pid)
        death = WorkerDeath(
            identity=identity,
            died_at=datetime.now(UTC),
            stalled_in=self.pulse.last_activity if was_still else None,
        )
        remove_worker_files()
        # Nobody can use the tool servers that the dead worker has started. The search takes 20 ms.
        if process_signals.has_children():
            detached_processes.kill_descendants(self.servers.pids if self.servers else ())
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

    def _wait(self, pid: int) -> tuple[int, bool]:
        """Return the worker's exit code, and True if it was killed because its loop stood still.

        A request to end is passed on to the worker once; a worker that ends is not watched.
        """
        watch, was_still = StallWatch(_STALL_LIMIT_S), False
        while (code := self._exit_code(pid)) is None:
            if self.servers and not self.inbox.is_stopping:
                self.servers.look()
            was_stopping = self.inbox.is_stopping
            self.inbox.wait_for_signal(_WATCH_INTERVAL_S)
            if self.inbox.is_stopping and not was_stopping:
                os.kill(pid, signal.SIGTERM)
            if was_still or self.inbox.is_stopping:
                continue
            if self.servers and self.servers.has_temporal_moved:
                log.warning("supervisor.temporal_moved", pid=pid)
                # A worker that cannot reach Temporal cannot end in order; the next takes over.
                os.kill(pid, signal.SIGKILL)
                self.servers.note_worker_start()
                continue
            seen = observe(pid, self.pulse)
            if seen and watch.stands_still(seen):
                self._kill_stalled(pid)
                was_still = True
        return code, was_still

    def _exit_code(self, worker: int) -> int | None:
        """Return the worker's exit code, or None while it runs; reap other children too."""
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == worker:
                return os.waitstatus_to_exitcode(status)
            if pid == 0:
                return None
            if self.servers:
                self.servers.note_end(pid, os.waitstatus_to_exitcode(status))

    def _kill_stalled(self, pid: int) -> None:
        key = self.pulse.last_activity
        log.error("supervisor.worker_stalled", pid=pid, **(key.model_dump() if key else {}))
        os.kill(pid, STACK_SIGNAL)
        self.inbox.pause(_STACK_TIME_S)
        os.kill(pid, signal.SIGKILL)


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
