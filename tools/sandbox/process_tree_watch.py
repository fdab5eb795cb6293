"""End a program whose processes take more together than its table allows."""

import asyncio
import os
import signal
from contextlib import suppress
from dataclasses import dataclass

import psutil
import structlog

log = structlog.get_logger(__name__)

_LOOK_EVERY_S = 0.5


@dataclass(frozen=True)
class TreeLimits:
    """What a program and its processes may take together."""

    memory_bytes: int
    processes: int


async def watch_process_tree(name: str, pid: int, limits: TreeLimits) -> None:
    """Look at the processes twice a second until the program ends; kill it above a limit.

    With the outer process of bubblewrap all processes of the sandbox end.
    """
    while (use := await asyncio.to_thread(_use, pid)) is not None:
        if use.memory_bytes > limits.memory_bytes or use.processes > limits.processes:
            log.warning(
                "mcp.server_over_its_limit",
                server=name,
                memory_mb=use.memory_bytes // 2**20,
                processes=use.processes,
            )
            with suppress(ProcessLookupError):
                os.killpg(pid, signal.SIGKILL)
            return
        await asyncio.sleep(_LOOK_EVERY_S)


def _use(pid: int) -> TreeLimits | None:
    """Return what the processes take now; None if the program has ended.

    Memory that processes share counts for each of them.
    """
    try:
        program = psutil.Process(pid)
        if program.status() == psutil.STATUS_ZOMBIE:
            return None
        family = [program, *program.children(recursive=True)]
    except psutil.NoSuchProcess:
        return None
    return TreeLimits(sum(map(_resident_bytes, family)), len(family))


def _resident_bytes(process: psutil.Process) -> int:
    try:
        return int(process.memory_info().rss)
    except psutil.Error:  # it has ended meanwhile
        return 0
