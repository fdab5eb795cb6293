"""Find, check and stop the supervisor of the local worker; the worker is its child process."""

import signal
import time
from pathlib import Path

import psutil
from pydantic import ValidationError

from holdfast.services import detached_processes
from holdfast.services.service_state import RunningProcess
from holdfast.services.supervisor.server_watch import outliving_pids
from holdfast.services.supervisor.worker_files import READY_FILE_VARIABLE, pid_file, ready_file_of

COMMAND = ("-P", "-m", "holdfast.worker")  # -P: a folder `holdfast` of the user must not hide ours
_RESTART_TIMEOUT_S = 3.0
_POLL_INTERVAL_S = 0.02
_STOP_SIGNALS = ((signal.SIGTERM, 30.0), (signal.SIGKILL, 5.0))
_CHILD_STOP_SIGNALS = ((signal.SIGTERM, 2.0), (signal.SIGKILL, 2.0))


def is_ready(home: Path, supervisor: RunningProcess) -> bool:
    """True if a worker polls, or its supervisor is restarting the worker."""
    given_up = time.monotonic() + _RESTART_TIMEOUT_S
    while detached_processes.is_alive(supervisor) and time.monotonic() < given_up:
        if is_polling(home):
            return True
        time.sleep(_POLL_INTERVAL_S)
    return False


def is_polling(home: Path) -> bool:
    """True if a living worker polls; the file of a killed worker may still exist."""
    return ready_file_of(home).exists() and current_worker(home) is not None


def current_worker(home: Path) -> RunningProcess | None:
    """Return the worker process itself, not its supervisor; None if no worker runs."""
    try:
        written = pid_file(ready_file_of(home)).read_text()
        worker = RunningProcess.model_validate_json(written)
    except (FileNotFoundError, ValidationError):
        return None
    return worker if detached_processes.is_alive(worker) else None


def stop(home: Path, process: RunningProcess) -> None:
    """Let running tasks finish, then stop the worker and its tool servers."""
    children = detached_processes.descendants(process, outliving_pids(home, process.pid))
    detached_processes.terminate_process(process, _STOP_SIGNALS)
    # A killed supervisor may have started another worker meanwhile.
    for child in [*children, *strays(home)]:
        detached_processes.terminate_process(child, _CHILD_STOP_SIGNALS)
    for file in (ready_file_of(home), pid_file(ready_file_of(home))):
        file.unlink(missing_ok=True)


def strays(home: Path) -> list[RunningProcess]:
    """Return the supervisors of this home, and the workers without a supervisor."""
    processes = [
        process
        for process in detached_processes.find_by_arguments(*COMMAND)
        if _belongs_to(process, home)
    ]
    pids = {process.pid for process in processes}
    return [process for process in processes if detached_processes.parent_pid(process) not in pids]


def _belongs_to(process: RunningProcess, home: Path) -> bool:
    try:
        return psutil.Process(process.pid).environ().get(READY_FILE_VARIABLE) == str(
            ready_file_of(home)
        )
    except psutil.Error:
        return False
