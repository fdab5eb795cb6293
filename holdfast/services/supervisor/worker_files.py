"""Name, write and remove the files of a running worker: one while it polls, one with its pid."""

import os
from pathlib import Path

from holdfast.services import detached_processes
from holdfast.services.private_files import write_private_file

READY_FILE_VARIABLE = "HOLDFAST_READY_FILE"
"""The variable with the path of the file that exists while a worker polls."""


def ready_file() -> Path | None:
    """Return the file that exists while a worker polls, or None if none is configured."""
    name = os.environ.get(READY_FILE_VARIABLE)
    return Path(name) if name else None


def ready_file_of(home: Path) -> Path:
    """Return the file that exists while the worker of `home` polls."""
    return home / "worker.ready"


def pid_file(ready: Path) -> Path:
    """Return the file with the current worker process, a RunningProcess as JSON."""
    return ready.with_suffix(".pid")


def write_pid_file(pid: int) -> None:
    """Write which process is the worker now."""
    ready, process = ready_file(), detached_processes.find_process(pid)
    if ready is None or process is None:
        return
    write_private_file(pid_file(ready), process.model_dump_json())


def remove_worker_files() -> None:
    """Remove the files of a worker that has ended."""
    if ready := ready_file():
        ready.unlink(missing_ok=True)
        pid_file(ready).unlink(missing_ok=True)
