"""The local worker and its supervisor, started anew when what they were started with has changed.

What is started, waited for and ended here is the supervisor; the worker is its child.
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

from holdfast.services import processes
from holdfast.services.state import RunningProcess
from holdfast.services.supervision import READY_FILE, pid_file
from holdfast.settings import Endpoints, Settings
from models.errors import ServiceDown

_COMMAND = ("-P", "-m", "worker")  # -P: a folder `models/` of the user's must not hide ours
_START_WITHIN_S = 30.0
_RESTART_WITHIN_S = 3.0
_LOOK_AGAIN_S = 0.02
_ENDING = ((signal.SIGTERM, 30.0), (signal.SIGKILL, 5.0))
_ENDING_OF_CHILDREN = ((signal.SIGTERM, 2.0), (signal.SIGKILL, 2.0))

_RELEVANT = ("HOLDFAST_", "OPENAI_", "TEMPORAL_", "OTEL_", "SSL_")
_PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")
_PACKAGES = ("activities", "models", "planning", "roles", "storage", "tools", "workflows")
_VARIABLE = re.compile(r"\b[A-Z][A-Z0-9_]{2,}\b")


def launch(settings: Settings, endpoints: Endpoints) -> RunningProcess:
    """The supervisor's process, started; its worker does not yet poll.

    Raises:
        ServiceDown: it ended at once; the message shows the end of its log.
    """
    _ready_file(settings.home).unlink(missing_ok=True)
    process = processes.start_detached(
        [sys.executable, *_COMMAND, "--supervise"],
        log=_log(settings.home),
        env=environment(settings, endpoints),
        # Relative paths in holdfast.toml are meant from where it lies.
        cwd=settings.config_file.parent if settings.config_file else settings.home,
    )
    if process is None:
        raise _failure(settings.home, "ended at once")
    return process


def wait_until_ready(home: Path, process: RunningProcess) -> None:
    """Returns once the worker polls.

    Raises:
        ServiceDown: the supervisor ended, or no worker began to poll in time.
    """
    given_up = time.monotonic() + _START_WITHIN_S
    while not _polls(home):
        if not processes.is_alive(process):
            raise _failure(home, "ended while it started")
        if time.monotonic() > given_up:
            raise _failure(home, f"does not poll after {_START_WITHIN_S:g} s")
        time.sleep(_LOOK_AGAIN_S)


def is_ready(home: Path, supervisor: RunningProcess) -> bool:
    """Whether a worker polls, or does so in a moment since it is being started again."""
    given_up = time.monotonic() + _RESTART_WITHIN_S
    while processes.is_alive(supervisor) and time.monotonic() < given_up:
        if _polls(home):
            return True
        time.sleep(_LOOK_AGAIN_S)
    return False


def _polls(home: Path) -> bool:
    """Whether a living worker has said so: the file of one that was killed may still be there."""
    return _ready_file(home).exists() and current_worker(home) is not None


def current_worker(home: Path) -> RunningProcess | None:
    """The process that does the work, not its supervisor; None while there is none."""
    try:
        written = pid_file(_ready_file(home)).read_text()
        worker = RunningProcess.model_validate_json(written)
    except (FileNotFoundError, ValidationError):
        return None
    return worker if processes.is_alive(worker) else None


def stop(home: Path, process: RunningProcess) -> None:
    """Lets running tasks come to an end, then ends what is left: the worker, its tools."""
    children = processes.descendants(process)
    processes.end(process, _ENDING)
    # A supervisor that had to be killed may have started another worker meanwhile.
    for child in [*children, *strays(home)]:
        processes.end(child, _ENDING_OF_CHILDREN)
    for file in (_ready_file(home), pid_file(_ready_file(home))):
        file.unlink(missing_ok=True)


def strays(home: Path) -> list[RunningProcess]:
    """Supervisors of this home folder, and workers that have lost theirs, known or not."""
    found = [p for p in processes.running_with(*_COMMAND) if _belongs_to(p, home)]
    pids = {process.pid for process in found}
    return [process for process in found if processes.parent(process) not in pids]


def environment(settings: Settings, endpoints: Endpoints) -> dict[str, str]:
    """What the worker is started with: ours, with the endpoints filled in."""
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
    env[READY_FILE] = str(_ready_file(settings.home))
    return env


def fingerprint(settings: Settings, endpoints: Endpoints, salt: str) -> str:
    """A mark that changes with whatever the worker would see changed; no secret can be read."""
    config = settings.config_file.read_text() if settings.config_file else ""
    named_in_config = set(_VARIABLE.findall(config))
    seen = {
        name: value
        for name, value in environment(settings, endpoints).items()
        if name.startswith(_RELEVANT) or name.upper() in _PROXIES or name in named_in_config
    }
    given = settings.model_dump(mode="json", exclude={"openai_api_key", "database_url"})
    code = (version("holdfast"), _newest_source())
    facts = repr((sorted(seen.items()), sorted(given.items()), config, code))
    return hmac.new(salt.encode(), facts.encode(), hashlib.sha256).hexdigest()


def _newest_source() -> int:
    """When our code was changed last, in ns: a checkout that is edited keeps its version."""
    here = Path(__file__).parent.parent.parent
    folders = (here / name for name in _PACKAGES)
    files = [file for folder in folders for file in folder.rglob("*.py")]
    return max((file.stat().st_mtime_ns for file in files), default=0)


def _belongs_to(process: RunningProcess, home: Path) -> bool:
    try:
        return psutil.Process(process.pid).environ().get(READY_FILE) == str(_ready_file(home))
    except psutil.Error:
        return False


def _ready_file(home: Path) -> Path:
    return home / "worker.ready"


def _log(home: Path) -> Path:
    return home / "logs" / "worker.log"


def _failure(home: Path, what: str) -> ServiceDown:
    log = _log(home)
    return ServiceDown(
        f"the worker {what}; {str(log)!r} ends with:\n{processes.last_lines(log)}\n"
        "mend what it names and run `holdfast up` again"
    )
