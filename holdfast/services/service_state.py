"""Store the processes and ports of a home folder on disk, and lock the home folder."""

import errno
import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from holdfast.models.errors import BadConfiguration, ServiceDown
from holdfast.services.private_files import touch_private_file, write_private_file

_LOCK_TIMEOUT_S = 120.0
_POLL_INTERVAL_S = 0.02
_PROBE_BYTES = 64 * 1024


class RunningProcess(BaseModel):
    """A process with its start time, which tells it from a later process with the same pid."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    pid: int
    created: float = Field(description="psutil's create_time()")


class ServiceState(BaseModel):
    """The processes of one home folder and their ports."""

    model_config = ConfigDict(extra="ignore")

    postgres: RunningProcess | None = None
    temporal: RunningProcess | None = None
    worker: RunningProcess | None = Field(default=None, description="the worker's supervisor")
    temporal_port: int | None = None
    ui_port: int | None = None
    schema_fingerprint: str = Field(default="", description="the migrations that this database has")
    worker_marks: dict[str, str] = Field(
        default_factory=dict, description="a salted hash of each setting of the worker"
    )
    worker_certificates: dict[str, str] = Field(
        default_factory=dict, description="the worker's variables that name files of certificates"
    )
    salt: str = ""

    @property
    def server_pids(self) -> frozenset[int]:
        """Return the pids of PostgreSQL and Temporal."""
        return frozenset(each.pid for each in (self.postgres, self.temporal) if each is not None)


def load_state(home: Path) -> ServiceState:
    """The state of `home`; an empty state if the file is missing or broken.

    Raises:
        BadConfiguration: the home belongs to another user.
    """
    try:
        return ServiceState.model_validate_json(_state_file(home).read_text())
    except PermissionError as error:
        raise BadConfiguration(
            f"HOLDFAST_HOME {str(home)!r} cannot be read ({error.strerror}): it belongs to another "
            "user; set it to a folder of yours"
        ) from error
    except (FileNotFoundError, ValidationError, UnicodeDecodeError):
        # Processes missing in the file are found by their command lines.
        return ServiceState()


def save_state(home: Path, state: ServiceState) -> None:
    """Write which services of the home run."""
    write_private_file(_state_file(home), state.model_dump_json(indent=1))


def check_home(home: Path) -> None:
    """Check that the folder can be created and written; leave no file behind.

    Raises:
        BadConfiguration: the folder cannot be created or written.
    """
    try:
        with tempfile.TemporaryFile(dir=_nearest_folder(home)) as probe:
            # An empty file can be made on a full disk.
            probe.write(bytes(_PROBE_BYTES))
            probe.flush()
            os.fsync(probe.fileno())
    except OSError as error:
        raise _unusable_home(home, error) from error


def free_bytes(home: Path) -> int:
    """The free space on the disk of the home."""
    return shutil.disk_usage(_nearest_folder(home)).free


def _nearest_folder(home: Path) -> Path:
    return next(folder for folder in (home, *home.parents) if folder.exists())


def make_home(home: Path) -> None:
    """Create the folders of a home; a new home is private.

    Raises:
        BadConfiguration: the folder cannot be created or written.
    """
    try:
        if not home.exists():
            home.parent.mkdir(parents=True, exist_ok=True)
            home.mkdir(mode=0o700, exist_ok=True)
        (home / "logs").mkdir(exist_ok=True)
        touch_private_file(_lock_file(home))
    except OSError as error:
        raise _unusable_home(home, error) from error


def _unusable_home(home: Path, error: OSError) -> BadConfiguration:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return BadConfiguration(
            f"the disk of HOLDFAST_HOME {str(home)!r} is full ({error.strerror}); free some space: "
            "jobs then continue by themselves"
        )
    return BadConfiguration(
        f"HOLDFAST_HOME {str(home)!r} cannot be written ({error.strerror}); "
        "set it to a folder of yours"
    )


@contextmanager
def home_lock(home: Path) -> Iterator[None]:
    """Hold the lock of `home`; the kernel releases the lock when the process dies.

    Raises:
        ServiceDown: another command has held the lock for two minutes.
    """
    descriptor = os.open(_lock_file(home), os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    try:
        _wait_for_lock(descriptor, home)
        yield
    finally:
        os.close(descriptor)


def _wait_for_lock(descriptor: int, home: Path) -> None:
    given_up = time.monotonic() + _LOCK_TIMEOUT_S
    while True:
        try:
            return fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            if time.monotonic() > given_up:
                raise ServiceDown(
                    f"another `holdfast up` or `down` has been working in {str(home)!r} for "
                    f"{_LOCK_TIMEOUT_S:g} s; wait for it, or stop it"
                ) from error
        time.sleep(_POLL_INTERVAL_S)


def _state_file(home: Path) -> Path:
    return home / "services.json"


def _lock_file(home: Path) -> Path:
    return home / "services.lock"
