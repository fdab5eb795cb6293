"""Build the seccomp filter of a sandboxed program.

The numbers are those of the kernel's tables for x86-64 and arm64; for other processors there is no
filter. https://www.kernel.org/doc/html/latest/userspace-api/seccomp_filter.html
"""

import errno
import os
import platform
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

_LOAD_WORD, _JUMP_IF_EQUAL, _JUMP_IF_BITS, _JUMP_IF_FROM, _RETURN = 0x20, 0x15, 0x45, 0x35, 0x06
_NUMBER_AT, _ARCHITECTURE_AT, _FIRST_ARGUMENT_AT = 0, 4, 16
_KILL_PROCESS, _ERROR, _ALLOW = 0x8000_0000, 0x0005_0000, 0x7FFF_0000
_CLONE_THREAD = 0x0001_0000
_OTHER_ABI_FROM = 0x4000_0000
"""x32, which numbers the calls of x86-64 again."""
_CLONE3 = 435


class _Processor(NamedTuple):
    """The numbers of one processor."""

    architecture: int
    clone: int
    forks: tuple[int, ...]
    hidden_memory: tuple[int, ...]
    """memfd_create, memfd_secret, shmget: memory that no limit of a process counts."""
    attacked: tuple[int, ...]
    """ptrace, process_vm_readv, process_vm_writev, add_key, request_key, keyctl, bpf,
    userfaultfd, perf_event_open, open_by_handle_at, io_uring_setup, _enter, _register."""


_PROCESSORS = {
    "x86_64": _Processor(
        0xC000_003E,
        56,
        (57, 58),
        (319, 447, 29),
        (101, 310, 311, 248, 249, 250, 321, 323, 298, 304, 425, 426, 427),
    ),
    "aarch64": _Processor(
        0xC000_00B7,
        220,
        (),
        (279, 447, 194),
        (117, 270, 271, 217, 218, 219, 280, 282, 241, 265, 425, 426, 427),
    ),
}


def has_syscall_filter() -> bool:
    """Return True if there is a filter for this processor."""
    return platform.machine() in _PROCESSORS


@contextmanager
def open_syscall_filter(*, may_fork: bool) -> Iterator[int | None]:
    """Yield a descriptor from which bubblewrap reads the filter; None without a filter."""
    processor = _PROCESSORS.get(platform.machine())
    if processor is None:
        yield None
        return
    descriptor, end = os.pipe()
    try:
        os.write(end, _filter(processor, may_fork=may_fork))  # far below the size of a pipe
        os.close(end)
        yield descriptor
    finally:
        os.close(descriptor)


def _filter(processor: _Processor, *, may_fork: bool) -> bytes:
    program = [
        _step(_LOAD_WORD, _ARCHITECTURE_AT),
        _step(_JUMP_IF_EQUAL, processor.architecture, if_true=1),
        _step(_RETURN, _KILL_PROCESS),
        _step(_LOAD_WORD, _NUMBER_AT),
        *_refused_from(_OTHER_ABI_FROM, errno.ENOSYS),
    ]
    for number in processor.attacked:
        program += _refused(number, errno.EPERM)
    if not may_fork:
        for number in processor.hidden_memory:
            program += _refused(number, errno.ENOSYS)
        for number in processor.forks:
            program += _refused(number, errno.EAGAIN)
        # Its flags are in memory, which a filter cannot read; the C library then takes clone.
        program += _refused(_CLONE3, errno.ENOSYS)
        program += _only_threads(processor.clone)
    return b"".join([*program, _step(_RETURN, _ALLOW)])


def _refused(number: int, error: int) -> list[bytes]:
    return [_step(_JUMP_IF_EQUAL, number, if_false=1), _step(_RETURN, _ERROR | error)]


def _refused_from(number: int, error: int) -> list[bytes]:
    return [_step(_JUMP_IF_FROM, number, if_false=1), _step(_RETURN, _ERROR | error)]


def _only_threads(clone: int) -> list[bytes]:
    """Return the steps that let `clone` make threads and no processes; they come last."""
    return [
        _step(_JUMP_IF_EQUAL, clone, if_false=3),
        _step(_LOAD_WORD, _FIRST_ARGUMENT_AT),
        _step(_JUMP_IF_BITS, _CLONE_THREAD, if_true=1),
        _step(_RETURN, _ERROR | errno.EAGAIN),
    ]


def _step(code: int, value: int, *, if_true: int = 0, if_false: int = 0) -> bytes:
    """Return one instruction; the jumps say how many instructions to leave out."""
    return struct.pack("=HBBI", code, if_true, if_false, value)
