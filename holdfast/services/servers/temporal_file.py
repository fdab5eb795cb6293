"""Name the embedded Temporal's SQLite file, and set a damaged file aside.

A new file is made under another name and renamed when the server has answered on it, so the file
under its own name is complete. A job continues from PostgreSQL without it.
"""

import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

_SUFFIXES = ("", "-wal", "-shm")
_NEEDED_TABLES = ("namespaces", "cluster_metadata_info")
"""The server fills these tables last when it makes a file, and cannot start without them."""


def database_file(home: Path) -> Path:
    """Return the file with Temporal's data."""
    return home / "temporal.db"


def unfinished_file(home: Path) -> Path:
    """Return the file on which a first server makes the tables."""
    return home / "temporal.db.new"


def publish_file(home: Path) -> None:
    """Give the finished file its own name; no server may run on it."""
    new = unfinished_file(home)
    with closing(sqlite3.connect(new)) as connection:
        # The log would not follow the file to its new name.
        connection.execute("pragma wal_checkpoint(truncate)")
    new.replace(database_file(home))


def remove_unfinished(home: Path) -> None:
    """Delete what a first server that was killed has left."""
    for suffix in _SUFFIXES:
        Path(f"{unfinished_file(home)}{suffix}").unlink(missing_ok=True)


def remove(home: Path) -> None:
    """Delete the file; no server may run on it."""
    for suffix in _SUFFIXES:
        Path(f"{database_file(home)}{suffix}").unlink(missing_ok=True)


def set_aside_damaged(home: Path) -> Path | None:
    """Rename a file that Temporal cannot use; return its new name, or None if nothing is wrong."""
    file = database_file(home)
    if not file.exists() or _is_usable(file):
        return None
    kept = Path(f"{file}.damaged-{datetime.now(UTC):%Y%m%d-%H%M%S}")
    for suffix in _SUFFIXES:
        part = Path(f"{file}{suffix}")
        if part.exists():
            part.replace(f"{kept}{suffix}")
    return kept


def _is_usable(file: Path) -> bool:
    try:
        with closing(sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True)) as connection:
            return all(
                connection.execute(f"select 1 from {table} limit 1").fetchone()  # noqa: S608 - our own names
                for table in _NEEDED_TABLES
            )
    except sqlite3.DatabaseError:
        return False
