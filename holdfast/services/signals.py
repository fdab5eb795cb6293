"""The few things that a process which minds others asks of the operating system."""

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

_ENDING = frozenset({signal.SIGTERM, signal.SIGINT})
_HEARD = _ENDING | {signal.SIGCHLD}

# linux/prctl.h
_SET_DEATH_SIGNAL = 1
_SET_SUBREAPER = 36


class Inbox:
    """Signals as bytes in a pipe, so that none is lost between looking and waiting."""

    def __init__(self) -> None:
        self.is_stopping = False

    def __enter__(self) -> Self:
        self._read, self._write = os.pipe()
        os.set_blocking(self._read, False)
        os.set_blocking(self._write, False)
        for each in _HEARD:
            signal.signal(each, lambda _number, _frame: None)
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
        """Give every signal its usual effect again: what a forked child begins with."""
        signal.set_wakeup_fd(-1)
        for each in _HEARD:
            signal.signal(each, signal.SIG_DFL)
        os.close(self._read)
        os.close(self._write)

    def wait_for_signal(self, within_s: float | None = None) -> None:
        """Returns at the next signal: a child has ended, or somebody asks this process to end."""
        select.select([self._read], [], [], within_s)
        try:
            heard = os.read(self._read, 4096)
        except BlockingIOError:
            return
        self.is_stopping = self.is_stopping or any(number in _ENDING for number in heard)

    def pause(self, seconds: float) -> None:
        """Returns after so long, or at once when this process is asked to end."""
        end = time.monotonic() + seconds
        while not self.is_stopping and (left := end - time.monotonic()) > 0:
            self.wait_for_signal(left)


@contextmanager
def held_back() -> Iterator[None]:
    """Signals come only afterwards: a child must not hear with its parent's ears."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _HEARD)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def is_safe_to_fork() -> bool:
    """Whether this process has one thread; a lock that another one holds would stay held."""
    return sys.platform == "linux" and len(list(Path("/proc/self/task").iterdir())) == 1


def spawned(command: list[str]) -> int:
    """The pid of a new process that takes signals as usual."""
    return os.posix_spawn(command[0], command, os.environ, setsigdef=_HEARD, setsigmask=())


def end_with_parent(parent: int) -> None:
    """Have this process be asked to end when its parent dies; on Linux only.

    Raises:
        ProcessLookupError: the parent is gone already.
    """
    _prctl(_SET_DEATH_SIGNAL, signal.SIGTERM)
    if os.getppid() != parent:
        raise ProcessLookupError(f"the supervisor {parent} is gone")


def adopt_orphans() -> None:
    """What a dead child had started becomes this process's child; on Linux only."""
    _prctl(_SET_SUBREAPER, 1)


def _prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)
