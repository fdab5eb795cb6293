"""Receive, block and reset operating system signals in a supervising process and its children."""

import ctypes
import os
import select
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

_STOP_SIGNALS = frozenset({signal.SIGTERM, signal.SIGINT})
_HANDLED_SIGNALS = _STOP_SIGNALS | {signal.SIGCHLD}

# linux/prctl.h
_SET_DEATH_SIGNAL = 1
_SET_SUBREAPER = 36


class SignalInbox:
    """Receive signals as bytes in a pipe, so that no signal is lost before a wait."""

    def __init__(self) -> None:
        self.is_stopping = False

    def __enter__(self) -> Self:
        self._read, self._write = os.pipe()
        os.set_blocking(self._read, False)
        os.set_blocking(self._write, False)
        for number in _HANDLED_SIGNALS:
            signal.signal(number, lambda _number, _frame: None)
        signal.set_wakeup_fd(self._write)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.discard()

    def discard(self) -> None:
        """Restore the default handlers; a forked child starts with this."""
        signal.set_wakeup_fd(-1)
        for number in _HANDLED_SIGNALS:
            signal.signal(number, signal.SIG_DFL)
        os.close(self._read)
        os.close(self._write)

    def wait_for_signal(self, within_s: float | None = None) -> None:
        """Wait for the next signal: a child has ended, or this process must end."""
        select.select([self._read], [], [], within_s)
        try:
            heard = os.read(self._read, 4096)
        except BlockingIOError:
            return
        self.is_stopping = self.is_stopping or any(number in _STOP_SIGNALS for number in heard)

    def pause(self, seconds: float) -> None:
        """Wait this long, or until a signal asks this process to end."""
        end = time.monotonic() + seconds
        while not self.is_stopping and (left := end - time.monotonic()) > 0:
            self.wait_for_signal(left)


@contextmanager
def signals_blocked() -> Iterator[None]:
    """Block signals in this block, so that a forked child never uses its parent's handlers."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _HANDLED_SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def is_safe_to_fork() -> bool:
    """True if this process has one thread; a fork keeps locks of other threads locked."""
    return sys.platform == "linux" and len(list(Path("/proc/self/task").iterdir())) == 1


def has_children() -> bool:
    """True if this process has a child, running or not yet waited for."""
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


def spawn_process(command: list[str]) -> int:
    """Fork, and return the child's pid; the child has the default signal handlers."""
    return os.posix_spawn(
        command[0], command, os.environ, setsigdef=_HANDLED_SIGNALS, setsigmask=()
    )


def end_with_parent(parent: int) -> None:
    """Send this process SIGTERM when its parent dies; on Linux only.

    Raises:
        ProcessLookupError: the parent has already ended.
    """
    _prctl(_SET_DEATH_SIGNAL, signal.SIGTERM)
    if os.getppid() != parent:
        raise ProcessLookupError(f"the supervisor {parent} has ended")


def adopt_orphans() -> None:
    """Make this process adopt the children of a dead child; on Linux only."""
    _prctl(_SET_SUBREAPER, 1)


def _prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)
