"""Answer requests about foreign bytes, one after the other, in a process of its own.

Standard input: a line of JSON with the request, whose `size` is the length of the bytes that
follow. Standard output: a line with a size, then that many bytes of JSON with the answer.
"""

import json
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

MEMORY_BYTES = 2 * 2**30
_LARGE_BYTES = 512 * 2**20

Answer = Callable[[dict[str, Any], bytes], dict[str, Any]]


def answer_requests(answer: Answer) -> None:
    """Answer requests until standard input ends; memory is bounded before the first one."""
    requests, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # output of a library must not look like an answer
    _bound_memory()
    while line := requests.readline():
        request = json.loads(line)
        body = requests.read(request["size"])
        # A process that became large keeps its memory, so that another one follows it.
        _send(answers, {**answer(request, body), "is_large": _peak_bytes() > _LARGE_BYTES})


def _send(answers: BinaryIO, answer: dict[str, Any]) -> None:
    packed = json.dumps(answer).encode()
    answers.write(b"%d\n" % len(packed) + packed)
    answers.flush()


def _peak_bytes() -> int:
    """Return the most memory that this process has had; 0 where the system does not tell."""
    # Not `ru_maxrss`, which begins at the size of the worker.
    with suppress(OSError):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    return 0


def _bound_memory() -> None:
    try:
        import resource
    except ImportError:
        return
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    bound = MEMORY_BYTES if most == resource.RLIM_INFINITY else min(MEMORY_BYTES, most)
    with suppress(ValueError, OSError):  # macOS does not bound it
        resource.setrlimit(resource.RLIMIT_AS, (bound, bound))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
