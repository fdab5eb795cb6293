"""Starts processes that outlive the command which started them, and ends them."""

import os
import shutil
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import psutil

from holdfast.services.state import RunningProcess

_LOOK_AGAIN_S = 0.02
_CLOCK_DRIFT_S = 5.0  # create_time() moves a little when the clock is set
_LOG_LIMIT_BYTES = 10_000_000
_SHELL = shutil.which("sh") or "/bin/sh"


def start_detached(
    command: Sequence[str],
    *,
    log: Path,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    user: str | None = None,
) -> RunningProcess | None:
    """Starts `command` in a session of its own; None if it had already ended.

    The shell between leaves the process to init: it is nobody's zombie, Ctrl-C does not reach it,
    and no Popen object of this process has to live as long as it does.
    """
    _rotate(log)
    with log.open("ab") as output:
        log.chmod(0o600)
        shell = subprocess.run(  # noqa: S603 (our own programs; nothing from outside is shell text)
            # umask: what a service writes, such as Temporal's database, is nobody else's to read.
            [_SHELL, "-c", 'umask 077; "$@" >&2 & echo $!', "sh", *command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=output,
            check=True,
            env=None if env is None else dict(env),
            cwd=cwd,
            start_new_session=True,
            user=user,
            group=user,
            extra_groups=[] if user else None,
        )
    return named(int(shell.stdout))


def named(pid: int) -> RunningProcess | None:
    """The process that has `pid` now, if it is alive."""
    try:
        process = psutil.Process(pid)
        if process.status() == psutil.STATUS_ZOMBIE:
            return None
        return RunningProcess(pid=pid, created=process.create_time())
    except psutil.NoSuchProcess:
        return None


def is_alive(process: RunningProcess | None) -> bool:
    """Whether it runs: the very one, not a later one with its pid."""
    if process is None or (there := named(process.pid)) is None:
        return False
    return abs(there.created - process.created) < _CLOCK_DRIFT_S


def listens_on(process: RunningProcess, port: int) -> bool:
    """Whether this process, not a stranger, has the TCP port open."""
    try:
        connections = psutil.Process(process.pid).net_connections("tcp")
    except psutil.Error:
        return False
    return any(c.status == psutil.CONN_LISTEN and c.laddr.port == port for c in connections)


def end(process: RunningProcess, steps: Sequence[tuple[int, float]]) -> None:
    """Sends one signal after another, waiting so many seconds after each, until it is gone."""
    for signal_number, patience_s in steps:
        if not is_alive(process):
            return
        try:
            os.kill(process.pid, signal_number)
        except ProcessLookupError:
            return
        wait_until_gone(process, patience_s)


def wait_until_gone(process: RunningProcess, patience_s: float) -> bool:
    """Whether it ended within `patience_s`."""
    given_up = time.monotonic() + patience_s
    while is_alive(process):
        if time.monotonic() > given_up:
            return False
        time.sleep(_LOOK_AGAIN_S)
    return True


def descendants(process: RunningProcess) -> list[RunningProcess]:
    """All that it has started and that is still alive, such as MCP servers."""
    try:
        children = psutil.Process(process.pid).children(recursive=True)
    except psutil.NoSuchProcess:
        return []
    return [found for child in children if (found := named(child.pid))]


def parent(process: RunningProcess) -> int | None:
    """The pid of the process that it is a child of, if it is alive."""
    try:
        return psutil.Process(process.pid).ppid()
    except psutil.NoSuchProcess:
        return None


def kill_descendants() -> None:
    """Ends, without asking, all that this process has started and what that had started."""
    for child in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            child.kill()


def running_with(*arguments: str) -> list[RunningProcess]:
    """The processes whose command line holds these arguments next to each other."""
    pids = [
        process.pid
        for process in psutil.process_iter(["cmdline"])
        if _holds(process.info["cmdline"] or [], arguments)
    ]
    return [found for pid in pids if (found := named(pid))]


def last_lines(log: Path, count: int = 12) -> str:
    """The end of a log, for a message that says why a service did not start."""
    try:
        lines = log.read_text(errors="replace").splitlines()
    except FileNotFoundError:
        return ""
    return "\n".join(f"  {line[:500]}" for line in lines[-count:])


def _holds(command: Sequence[str], arguments: Sequence[str]) -> bool:
    width = len(arguments)
    return any(
        tuple(command[at : at + width]) == tuple(arguments)
        for at in range(len(command) - width + 1)
    )


def _rotate(log: Path) -> None:
    if log.exists() and log.stat().st_size > _LOG_LIMIT_BYTES:
        log.replace(log.with_suffix(".log.1"))
