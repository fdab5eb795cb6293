"""Write a backup of the database to a file, and check that a file is a whole backup.

The backup is an archive of `pg_dump`: one consistent moment, also while jobs run. It holds
everything that continues the jobs. Temporal's data are not part of it (docs/backup.md).
"""

import os
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Any

from psycopg.conninfo import conninfo_to_dict, make_conninfo

from holdfast.models.errors import BadInput, ServiceDown
from holdfast.services.private_files import create_private_file
from holdfast.services.servers.postgres_account import postgres_program

_NEEDED_TABLE = " TABLE DATA public jobs "
"""The line of this table in the list of a backup's contents; a whole backup has it."""


def write_backup(database_url: str, file: Path) -> None:
    """Write a backup to `file`, which appears whole or not at all and only its owner may read.

    Raises:
        BadInput: the file exists, or cannot be written.
        ServiceDown: pg_dump failed; the message has its words.
    """
    if file.exists():
        raise BadInput(f"{str(file)!r} exists; name another file, or remove this one")
    unfinished = file.with_name(f".{file.name}.unfinished")
    try:
        create_private_file(unfinished)
    except OSError as error:
        raise BadInput(f"{str(file)!r} cannot be written ({error.strerror})") from error
    try:
        run_database_program(
            "pg_dump",
            "--format=custom",
            "--no-owner",
            "--no-privileges",
            f"--file={unfinished}",
            database_url=database_url,
        )
        check_backup(unfinished)
        _flush(unfinished)
        unfinished.rename(file)
    finally:
        with suppress(FileNotFoundError):
            unfinished.unlink()


def check_backup(file: Path) -> None:
    """Read the whole file, and check that it is a complete backup of Holdfast's database.

    Raises:
        BadInput: the file is missing, damaged, cut off, or the backup of something else.
    """
    if not file.is_file():
        raise BadInput(f"there is no file {str(file)!r}")
    listed = _run("pg_restore", "--list", str(file))
    if listed.returncode == 0 and _NEEDED_TABLE not in listed.stdout:
        raise BadInput(f"{str(file)!r} is no backup of Holdfast: it has no table of jobs")
    read = listed if listed.returncode else _run("pg_restore", f"--file={os.devnull}", str(file))
    if read.returncode:
        raise BadInput(f"{str(file)!r} is no whole backup: {_first_line(read.stderr)}")


def run_database_program(name: str, *words: str, database_url: str) -> None:
    """Run a PostgreSQL program on a database; the password is not among its arguments.

    Raises:
        ServiceDown: the program failed; the message has its first words.
    """
    address: dict[str, Any] = conninfo_to_dict(database_url.replace("+psycopg", "", 1))
    password = address.pop("password", None)
    done = _run(name, f"--dbname={make_conninfo(**address)}", *words, password=password)
    if done.returncode:
        raise ServiceDown(f"{name} failed: {_first_line(done.stderr)}")


def _run(name: str, *words: str, password: str | None = None) -> subprocess.CompletedProcess[str]:
    environment = dict(os.environ) | ({} if password is None else {"PGPASSWORD": password})
    return subprocess.run(  # noqa: S603
        [str(postgres_program(name)), *words],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
    )


def _first_line(text: str) -> str:
    return text.strip().partition("\n")[0] or "it gave no reason"


def _flush(file: Path) -> None:
    """Write the file through to the disk, so that a crash leaves no empty file of its name."""
    descriptor = os.open(file, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
