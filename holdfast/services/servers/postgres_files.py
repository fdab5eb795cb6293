"""Prepare the files of the embedded PostgreSQL: data folder, socket folder and their owner."""

import hashlib
import os
import pwd
import shutil
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path

from holdfast.models.errors import BadConfiguration, ServiceDown
from holdfast.services.servers.postgres_account import (
    MAJOR_VERSION,
    WORKING_DIRECTORY,
    server_program,
)
from holdfast.services.servers.postgres_repairs import is_complete, remove_stale_lock_files

SOCKET_NAME = ".s.PGSQL.5432"

_MAX_SOCKET_PATH = 103  # sun_path on macOS; Linux allows four more


def data_folder(home: Path) -> Path:
    return home / "postgres"


def log_file(home: Path) -> Path:
    return home / "logs" / "postgres.log"


def socket_folder(home: Path) -> Path:
    """Return the socket folder: the private data folder, or a short one if its path is too long."""
    cluster = data_folder(home)
    if len(os.fsencode(cluster / SOCKET_NAME)) <= _MAX_SOCKET_PATH:
        return cluster
    mark = hashlib.sha256(os.fsencode(cluster)).hexdigest()[:12]
    # Root's server runs as another user, for whom root's own TMPDIR may be closed.
    place = "/tmp" if os.geteuid() == 0 else tempfile.gettempdir()  # noqa: S108 - checked when made
    return Path(place) / f"holdfast-{mark}"


def discard_sockets(home: Path) -> None:
    """Remove the short folder, if it exists, after the server has ended."""
    if (folder := socket_folder(home)) != data_folder(home):
        shutil.rmtree(folder, ignore_errors=True)


def server_folders(home: Path, user: str | None) -> tuple[Path, Path]:
    """Return the data folder and the socket folder by the paths that the server is started with.

    The server's working directory must be the data folder. A server of root's runs as `user`, for
    whom the folders above the data folder are closed; that server goes by its working directory.
    """
    cluster, sockets = data_folder(home), socket_folder(home)
    if user is None:
        return cluster, sockets
    return WORKING_DIRECTORY, WORKING_DIRECTORY if sockets == cluster else sockets


def prepare_cluster(home: Path, user: str | None) -> None:
    """Create the cluster unless it exists, and prepare the folders for `user`.

    Raises:
        ServiceDown: `initdb` failed.
        BadConfiguration: the data are of another major version, or another user owns the socket
            folder.
    """
    cluster = data_folder(home)
    if is_complete(cluster):
        _check_version(cluster)
    else:
        _create(cluster, user)
    if socket_folder(home) != cluster:
        _make_private(socket_folder(home), user)
    remove_stale_lock_files(cluster, socket_folder(home))


def _create(cluster: Path, user: str | None) -> None:
    # Create under another name first: an incomplete cluster must not look complete.
    half = cluster.with_name("postgres.new")
    shutil.rmtree(half, ignore_errors=True)
    _make_private(half, user)
    ran = subprocess.run(  # noqa: S603
        [
            str(server_program("initdb", user)),
            "--username=postgres",
            "--auth-local=trust",  # only the owner can enter the folder of the socket
            "--auth-host=reject",
            "--encoding=UTF8",
            # An update of the system's library must not change the sort order of an index.
            "--no-locale",
            "--locale-provider=builtin",
            "--builtin-locale=C.UTF-8",
            "--no-instructions",
            "-D",
            str(half if user is None else WORKING_DIRECTORY),
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
    if theirs != MAJOR_VERSION:
        raise BadConfiguration(
            f"{str(cluster)!r} was written by PostgreSQL {theirs}, not {MAJOR_VERSION}; "
            "dump it with the old version of Holdfast, or set HOLDFAST_HOME to a new folder"
        )


def _make_private(folder: Path, user: str | None) -> None:
    """Make the folder, or take an existing one; only `user` (None: this user) may enter it.

    Raises:
        BadConfiguration: the folder is another user's, or a link.
    """
    owner = pwd.getpwnam(user) if user else pwd.getpwuid(os.geteuid())
    with suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    refusal = BadConfiguration(
        f"{str(folder)!r} belongs to another user; remove it, or set HOLDFAST_HOME to a "
        "shorter path so that it is not needed"
    )
    try:
        # The folder can be in /tmp: a link that another user made there must not be followed.
        opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError as error:
        raise refusal from error
    try:
        if os.fstat(opened).st_uid not in (owner.pw_uid, os.geteuid()):
            raise refusal
        os.fchown(opened, owner.pw_uid, owner.pw_gid)
        os.fchmod(opened, 0o700)
    finally:
        os.close(opened)
