"""Start, find and end processes that outlive the command that started them."""

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import psutil

from holdfast.services.private_files import open_private_log
from holdfast.services.service_state import RunningProcess

_POLL_INTERVAL_S = 0.02
_CLOCK_DRIFT_S = 5.0  # create_time() changes a little when the clock is set
_LOG_LIMIT_BYTES = 10_000_000
_PASSED_VARIABLES = frozenset(
    ["PATH", "HOME", "USER", "LOGNAME", "LANG", "TZ", "TMPDIR", "LD_LIBRARY_PATH"]
)
_SHELL = shutil.which("sh") or "/bin/sh"


def service_environment() -> dict[str, str]:
    """Return the environment of an embedded service: no key, which its user could read there."""
    return {name: value for name, value in os.environ.items() if name in _PASSED_VARIABLES}


def start_detached(
    command: Sequence[str],
    *,
    log: Path,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    user: str | None = None,
) -> RunningProcess | None:
    """Start `command` in its own session; return the process, or None if it has already ended.

    A shell starts the process and exits, so init adopts the process: the process never becomes a
    zombie, Ctrl-C does not reach it, and this process keeps no Popen object for it.
    """
    _rotate(log)
    with open_private_log(log) as output:
        shell = subprocess.run(  # noqa: S603 (our own programs; no foreign text reaches the shell)
            # umask: other users must not read the files of a service, such as Temporal's database.
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
    return find_process(int(shell.stdout))


def find_process(pid: int) -> RunningProcess | None:
    """Return the process that has `pid` now, or None if no living process has it."""
    try:
        process = psutil.Process(pid)
        if process.status() == psutil.STATUS_ZOMBIE:
            return None
        return RunningProcess(pid=pid, created=process.create_time())
    except psutil.NoSuchProcess:
        return None


def is_alive(process: RunningProcess | None) -> bool:
    """True if this process runs; a later process with the same pid does not count."""
    if process is None or (current := find_process(process.pid)) is None:
        return False
    return abs(current.created - process.created) < _CLOCK_DRIFT_S


def listens_on(process: RunningProcess, port: int) -> bool:
    """True if this process itself listens on the TCP port."""
    try:
        connections = psutil.Process(process.pid).net_connections("tcp")
    except psutil.Error:
        return False
    return any(c.status == psutil.CONN_LISTEN and c.laddr.port == port for c in connections)


def terminate_process(process: RunningProcess, steps: Sequence[tuple[int, float]]) -> None:
    """Send the signals in order, and wait after each, until the process has ended."""
    for signal_number, patience_s in steps:
        if not is_alive(process):
            return
        try:
            os.kill(process.pid, signal_number)
        except ProcessLookupError:
            return
        wait_until_gone(process, patience_s)


def wait_until_gone(process: RunningProcess, patience_s: float) -> bool:
    """True if the process ended within `patience_s`."""
    given_up = time.monotonic() + patience_s
    while is_alive(process):
        if time.monotonic() > given_up:
            return False
        time.sleep(_POLL_INTERVAL_S)
    return True


def descendants(
    process: RunningProcess, spared: Collection[int] = frozenset()
) -> list[RunningProcess]:
    """Return the living descendants, such as MCP servers, except the trees below `spared`."""
    try:
        children = psutil.Process(process.pid).children(recursive=True)
    except psutil.NoSuchProcess:
        return []
    left_out = set(spared)
    found = []
    for child in children:  # parents come before their children
        with suppress(psutil.NoSuchProcess):
            if child.pid in left_out or child.ppid() in left_out:
                left_out.add(child.pid)
            elif alive := find_process(child.pid):
                found.append(alive)
    return found


def parent_pid(process: RunningProcess) -> int | None:
    """Return the pid of the parent, or None if the process is not alive."""
    try:
        return psutil.Process(process.pid).ppid()
    except psutil.NoSuchProcess:
        return None


def kill_descendants(spared: Collection[int] = frozenset()) -> None:
    """Kill all descendants of this process, except the trees below `spared`."""
    if me := find_process(os.getpid()):
        for child in descendants(me, spared):
            with suppress(ProcessLookupError):
                os.kill(child.pid, signal.SIGKILL)


def find_by_arguments(*arguments: str) -> list[RunningProcess]:
    """Return the processes whose command line contains these arguments in sequence."""
    pids = [
        process.pid
        for process in psutil.process_iter(["cmdline"])
        if _has_arguments(process.info["cmdline"] or [], arguments)
    ]
    return [process for pid in pids if (process := find_process(pid))]


def log_size(log: Path) -> int:
    """Return the size of a log in bytes; 0 if it is missing or the next start begins a new one."""
    size = log.stat().st_size if log.exists() else 0
    return 0 if size > _LOG_LIMIT_BYTES else size


def last_lines(log: Path, count: int = 12, *, offset: int = 0) -> str:
    """Return the last lines after `offset` for the message about a service that did not start."""
    try:
        lines = log.read_bytes()[offset:].decode(errors="replace").splitlines()
    except FileNotFoundError:
        return ""
    return "\n".join(f"  {line[:500]}" for line in lines[-count:])


def _has_arguments(command: Sequence[str], arguments: Sequence[str]) -> bool:
    width = len(arguments)
    return any(
        tuple(command[at : at + width]) == tuple(arguments)
        for at in range(len(command) - width + 1)
    )


def _rotate(log: Path) -> None:
    if log.exists() and log.stat().st_size > _LOG_LIMIT_BYTES:
        log.replace(log.with_suffix(".log.1"))
