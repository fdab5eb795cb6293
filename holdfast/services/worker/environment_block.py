"""Take the environment out of what other processes can read of this one.

`/proc/PID/environ` shows the memory in which a process got its environment, to every process of
its user, and to root. Tool servers run as the worker's user; so the worker overwrites that memory
when it starts. `os.environ` and the C library go on with copies. Making the process undumpable
would not do: root reads it all the same, and `holdfast down` finds its workers by a variable.
"""

import ctypes
import os
import sys
from pathlib import Path

KEPT_VARIABLES = frozenset({b"HOLDFAST_HOME", b"HOLDFAST_READY_FILE"})
"""The variables by which `holdfast` finds its workers."""
_START, _END = 50 - 3, 51 - 3  # fields of proc_pid_stat(5), counted after the program's name


def hide_environment() -> None:
    """Overwrite the values in the memory that `/proc/PID/environ` shows; on Linux only."""
    if sys.platform != "linux":
        return
    for name, value in os.environb.items():
        os.putenv(name, value)  # copies it, so that C libraries no longer read that memory
    fields = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
    start, end = int(fields[_START]), int(fields[_END])
    block = ctypes.string_at(start, end - start)
    ctypes.memmove(start, b"\0".join(map(_without_value, block.split(b"\0"))), len(block))


def _without_value(entry: bytes) -> bytes:
    """Return the entry `NAME=value`, with as many stars as the value has bytes."""
    name, sign, value = entry.partition(b"=")
    return entry if name in KEPT_VARIABLES else name + sign + b"*" * len(value)
