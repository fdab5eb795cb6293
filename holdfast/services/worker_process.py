"""Start, check and stop the supervisor of the local worker, and detect changed settings.

These functions start, await and stop the supervisor; the worker is its child process.
"""

import hashlib
import hmac
import os
import re
import signal
import sys
import time
from importlib.metadata import version
from pathlib import Path

import psutil
from pydantic import ValidationError

from holdfast.models.errors import ServiceDown
from holdfast.services import detached_processes
from holdfast.services.service_state import RunningProcess
from holdfast.services.worker_supervisor import READY_FILE_VARIABLE, pid_file
from holdfast.settings import Endpoints, Settings

_COMMAND = ("-P", "-m", "holdfast.worker")  # -P: a folder `holdfast` of the user must not hide ours
_START_TIMEOUT_S = 30.0
_RESTART_TIMEOUT_S = 3.0
_POLL_INTERVAL_S = 0.02
_STOP_SIGNALS = ((signal.SIGTERM, 30.0), (signal.SIGKILL, 5.0))
_CHILD_STOP_SIGNALS = ((signal.SIGTERM, 2.0), (signal.SIGKILL, 2.0))

_RELEVANT_PREFIXES = ("HOLDFAST_", "OPENAI_", "TEMPORAL_", "OTEL_", "SSL_")
_PROXY_VARIABLES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")
_PACKAGES = ("activities", "models", "planning", "roles", "storage", "tools", "workflows")
_VARIABLE = re.compile(r"\b[A-Z][A-Z0-9_]{2,}\b")


def launch_supervisor(settings: Settings, endpoints: Endpoints) -> RunningProcess:
    """Start the supervisor and return its process; its worker does not poll yet.

    Raises:
        ServiceDown: the supervisor ended at once; the message shows the end of its log.
    """
    _ready_file(settings.home).unlink(missing_ok=True)
    process = detached_processes.start_detached(
        [sys.executable, *_COMMAND, "--supervise"],
        log=_log_file(settings.home),
        env=worker_environment(settings, endpoints),
        # Relative paths in holdfast.toml start at the folder of the file.
        cwd=settings.config_file.parent if settings.config_file else settings.home,
    )
    if process is None:
        raise _failure(settings.home, "ended at once")
    return process


def wait_until_ready(home: Path, process: RunningProcess) -> None:
    """Wait until the worker polls.

    Raises:
        ServiceDown: the supervisor ended, or no worker polled in time.
    """
    given_up = time.monotonic() + _START_TIMEOUT_S
    while not _is_polling(home):
        if not detached_processes.is_alive(process):
            raise _failure(home, "ended while it started")
        if time.monotonic() > given_up:
            raise _failure(home, f"does not poll after {_START_TIMEOUT_S:g} s")
        time.sleep(_POLL_INTERVAL_S)


def is_ready(home: Path, supervisor: RunningProcess) -> bool:
    """True if a worker polls, or its supervisor is restarting the worker."""
    given_up = time.monotonic() + _RESTART_TIMEOUT_S
    while detached_processes.is_alive(supervisor) and time.monotonic() < given_up:
        if _is_polling(home):
            return True
        time.sleep(_POLL_INTERVAL_S)
    return False


def _is_polling(home: Path) -> bool:
    """True if a living worker polls; the file of a killed worker may still exist."""
    return _ready_file(home).exists() and current_worker(home) is not None


def current_worker(home: Path) -> RunningProcess | None:
    """Return the worker process itself, not its supervisor; None if no worker runs."""
    try:
        written = pid_file(_ready_file(home)).read_text()
        worker = RunningProcess.model_validate_json(written)
    except (FileNotFoundError, ValidationError):
        return None
    return worker if detached_processes.is_alive(worker) else None


def stop(home: Path, process: RunningProcess) -> None:
    """Let running tasks finish, then stop the worker and its tool servers."""
    children = detached_processes.descendants(process)
    detached_processes.terminate_process(process, _STOP_SIGNALS)
    # A killed supervisor may have started another worker meanwhile.
    for child in [*children, *strays(home)]:
        detached_processes.terminate_process(child, _CHILD_STOP_SIGNALS)
    for file in (_ready_file(home), pid_file(_ready_file(home))):
        file.unlink(missing_ok=True)


def strays(home: Path) -> list[RunningProcess]:
    """Return the supervisors of this home, and the workers without a supervisor."""
    processes = [
        process
        for process in detached_processes.find_by_arguments(*_COMMAND)
        if _belongs_to(process, home)
    ]
    pids = {process.pid for process in processes}
    return [process for process in processes if detached_processes.parent_pid(process) not in pids]


def worker_environment(settings: Settings, endpoints: Endpoints) -> dict[str, str]:
    """Return the environment of the worker: this one with the endpoints added."""
    env = dict(os.environ)
    if endpoints.embedded_temporal:
        # A key, certificate or profile in the environment is meant for another server.
        env = {name: value for name, value in env.items() if not name.startswith("TEMPORAL_")}
        env["TEMPORAL_ADDRESS"] = endpoints.temporal_address
        env["TEMPORAL_NAMESPACE"] = endpoints.temporal_namespace
        env["TEMPORAL_CONFIG_FILE"] = os.devnull
    if endpoints.temporal_ui:
        env["HOLDFAST_TEMPORAL_UI_URL"] = endpoints.temporal_ui
    if settings.config_file:
        env["HOLDFAST_CONFIG"] = str(settings.config_file)
    env["HOLDFAST_HOME"] = str(settings.home)
    env["HOLDFAST_DATABASE_URL"] = endpoints.database_url
    env[READY_FILE_VARIABLE] = str(_ready_file(settings.home))
    return env


def worker_fingerprint(settings: Settings, endpoints: Endpoints, salt: str) -> str:
    """Return a salted hash of all that the worker reads at its start; it reveals no secret."""
    config = settings.config_file.read_text() if settings.config_file else ""
    named_in_config = set(_VARIABLE.findall(config))
    seen = {
        name: value
        for name, value in worker_environment(settings, endpoints).items()
        if name.startswith(_RELEVANT_PREFIXES)
        or name.upper() in _PROXY_VARIABLES
        or name in named_in_config
    }
    values = settings.model_dump(mode="json", exclude={"openai_api_key", "database_url"})
    code = (version("holdfast"), _newest_source())
    facts = repr((sorted(seen.items()), sorted(values.items()), config, code))
    return hmac.new(salt.encode(), facts.encode(), hashlib.sha256).hexdigest()


def _newest_source() -> int:
    """Return the time of the latest change of our code in ns; edits keep the version number."""
    package = Path(__file__).parent.parent
    folders = (package / name for name in _PACKAGES)
    files = [file for folder in folders for file in folder.rglob("*.py")]
    return max((file.stat().st_mtime_ns for file in files), default=0)


def _belongs_to(process: RunningProcess, home: Path) -> bool:
    try:
        return psutil.Process(process.pid).environ().get(READY_FILE_VARIABLE) == str(
            _ready_file(home)
        )
    except psutil.Error:
        return False


def _ready_file(home: Path) -> Path:
    return home / "worker.ready"


def _log_file(home: Path) -> Path:
    return home / "logs" / "worker.log"


def _failure(home: Path, what: str) -> ServiceDown:
    log = _log_file(home)
    return ServiceDown(
        f"the worker {what}; {str(log)!r} ends with:\n{detached_processes.last_lines(log)}\n"
        "repair the fault that it names and run `holdfast up` again"
    )
