"""What runs in a home folder, on disk: pids that survive pid reuse, ports, and one lock."""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from models.errors import BadConfiguration, ServiceDown

_LOCK_WAIT_S = 120.0
_LOOK_AGAIN_S = 0.02


class RunningProcess(BaseModel):
    """A process named so that another one that got its pid later is not taken for it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    pid: int
    created: float = Field(description="psutil's create_time()")


class State(BaseModel):
    """The processes of one home folder and where they listen."""

    model_config = ConfigDict(extra="ignore")

    postgres: RunningProcess | None = None
    temporal: RunningProcess | None = None
    worker: RunningProcess | None = Field(default=None, description="the worker's supervisor")
    temporal_port: int | None = None
    ui_port: int | None = None
    schema_mark: str = Field(default="", description="which migrations this database has had")
    worker_mark: str = Field(default="", description="a salted hash of the worker's environment")
    salt: str = ""


def load_state(home: Path) -> State:
    """The state of `home`; an empty one where there is none or it cannot be read."""
    try:
        return State.model_validate_json(_state_file(home).read_text())
    except (FileNotFoundError, ValidationError, UnicodeDecodeError):
        # Processes that a lost file does not name are found again by their command line.
        return State()


def save_state(home: Path, state: State) -> None:
    """Replaces the file at once, so that no reader sees half of it."""
    new = _state_file(home).with_suffix(".new")
    new.write_text(state.model_dump_json(indent=1))
    new.chmod(0o600)
    new.replace(_state_file(home))


def make_home(home: Path) -> None:
    """Creates the folders that everything else expects.

    Raises:
        BadConfiguration: the folder cannot be made or written.
    """
    try:
        (home / "logs").mkdir(parents=True, exist_ok=True)
        _lock_file(home).touch(mode=0o600)
    except OSError as error:
        raise BadConfiguration(
            f"HOLDFAST_HOME {str(home)!r} cannot be written ({error.strerror}); "
            "set it to a folder of yours"
        ) from error


@contextmanager
def only_one(home: Path) -> Iterator[None]:
    """Holds the lock of `home`; the kernel lets go of it when the process dies.

    Raises:
        ServiceDown: another command has held it for two minutes.
    """
    descriptor = os.open(_lock_file(home), os.O_RDWR | os.O_CLOEXEC)
    try:
        _wait_for(descriptor, home)
        yield
    finally:
        os.close(descriptor)


def _wait_for(descriptor: int, home: Path) -> None:
    given_up = time.monotonic() + _LOCK_WAIT_S
    while True:
        try:
            return fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            if time.monotonic() > given_up:
                raise ServiceDown(
                    f"another `holdfast up` or `down` has been working in {str(home)!r} for "
                    f"{_LOCK_WAIT_S:g} s; wait for it, or stop it"
                ) from error
        time.sleep(_LOOK_AGAIN_S)


def _state_file(home: Path) -> Path:
    return home / "services.json"


def _lock_file(home: Path) -> Path:
    return home / "services.lock"
