"""Keeps one worker running: starts it, waits for it, and starts another when it dies unasked."""

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

from holdfast.services import processes, signals
from holdfast.services.lives import Death, Life, identity_of

REFUSED = 2
"""The exit code of a worker that cannot use its configuration: trying again will not help."""

READY_FILE = "HOLDFAST_READY_FILE"
"""The variable that names the file which is there while a worker polls."""

_SHORT_LIFE_S = 10.0
_FIRST_PAUSE_S = 1.0
_LONGEST_PAUSE_S = 30.0
_DEATHS_TOLD = 8  # a worker that died before it had taken over leaves that to the next

log = structlog.get_logger(__name__)


def pause_s(short_lives: int) -> float:
    """How long to wait before the next start, after so many workers in a row that died young.

    Nothing after a long life (0) and after the first short one, then 1, 2, 4, ... 30 seconds.
    """
    return 0.0 if short_lives < 2 else min(_LONGEST_PAUSE_S, 2.0 ** min(short_lives - 2, 8))


def ready_file() -> Path | None:
    """The file that says that a worker polls, where somebody wants to know."""
    name = os.environ.get(READY_FILE)
    return Path(name) if name else None


def pid_file(ready: Path) -> Path:
    """The file that says which process is the worker now: a RunningProcess as JSON."""
    return ready.with_suffix(".pid")


@dataclass
class Supervisor:
    """Runs `work` in one child after another; what it returns is the child's exit code.

    Where a fork is not safe, `command` is started instead, with the Life as JSON at its end.
    """

    work: Callable[[Life], int]
    command: Sequence[str]
    inbox: signals.Inbox = field(default_factory=signals.Inbox)
    deaths: deque[Death] = field(default_factory=lambda: deque(maxlen=_DEATHS_TOLD))
    short_lives: int = 0

    def run(self) -> int:
        """Supervise until SIGTERM or SIGINT (0), or until a worker refuses its configuration."""
        signals.adopt_orphans()
        # What the collector leaves alone is not written to, and stays shared with the workers.
        gc.collect()
        gc.freeze()
        with self.inbox:
            while not self.inbox.is_stopping:
                if self._one_life() == REFUSED:
                    return REFUSED
        return 0

    def _one_life(self) -> int:
        """Start a worker and wait for its end, and after it if need be; gives its exit code."""
        began = time.monotonic()
        life = Life(supervisor=os.getpid(), deaths=tuple(self.deaths))
        try:
            pid = self._start(life)
        except OSError as error:
            return self._pause_without_worker(error)
        identity = identity_of(pid, life.token)
        log.info("supervisor.worker_started", worker=identity)
        _write_pid(pid)
        code = self._wait(pid)
        death = Death(identity=identity, died_at=datetime.now(UTC))
        _forget()
        # Whatever tool servers it had started can answer nobody any more.
        processes.kill_descendants()
        if code != REFUSED and not self.inbox.is_stopping:
            self._pause_after(death, code, time.monotonic() - began)
        return code

    def _pause_after(self, death: Death, code: int, lived_s: float) -> None:
        self.deaths.append(death)
        self.short_lives = self.short_lives + 1 if lived_s < _SHORT_LIFE_S else 0
        pause = pause_s(self.short_lives)
        log.warning("supervisor.worker_ended", worker=death.identity, code=code, restart_in_s=pause)
        self.inbox.pause(pause)

    def _pause_without_worker(self, error: OSError) -> int:
        """There is no memory or no room for a process now, perhaps because there was too little."""
        self.short_lives += 1
        pause = max(_FIRST_PAUSE_S, pause_s(self.short_lives))
        log.error("supervisor.cannot_start", error=str(error), again_in_s=pause)
        self.inbox.pause(pause)
        return os.EX_OSERR

    def _start(self, life: Life) -> int:
        if not signals.is_safe_to_fork():
            return signals.spawned([*self.command, life.model_dump_json()])
        sys.stderr.flush()
        with signals.held_back():
            pid = os.fork()
            if pid == 0:
                self.inbox.discard()
        if pid == 0:
            _live(self.work, life)
        return pid

    def _wait(self, pid: int) -> int:
        """The worker's exit code; a request to end is passed on to it, once."""
        while (code := _exit_code(pid)) is None:
            was_stopping = self.inbox.is_stopping
            self.inbox.wait_for_signal()
            if self.inbox.is_stopping and not was_stopping:
                os.kill(pid, signal.SIGTERM)
        return code


def _live(work: Callable[[Life], int], life: Life) -> NoReturn:
    """The whole of a forked child: nothing of the supervisor's may run in it afterwards."""
    code = 1
    try:
        code = work(life)
    except BaseException:
        # Whatever it is, it must not climb into the supervisor.
        traceback.print_exc()
    finally:
        with suppress(OSError):
            sys.stderr.flush()
        os._exit(code)


def _exit_code(worker: int) -> int | None:
    """The worker's exit code once it has ended; other children, which it left, are buried too."""
    while True:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid == worker:
            return os.waitstatus_to_exitcode(status)
        if pid == 0:
            return None


def _write_pid(pid: int) -> None:
    ready, process = ready_file(), processes.named(pid)
    if ready is None or process is None:
        return
    new = pid_file(ready).with_suffix(".new")
    new.write_text(process.model_dump_json())
    new.replace(pid_file(ready))


def _forget() -> None:
    if ready := ready_file():
        ready.unlink(missing_ok=True)
        pid_file(ready).unlink(missing_ok=True)
