"""Where the PostgreSQL servers of tests keep their data: in memory, where there is room."""

import os
import shutil
import tempfile
from pathlib import Path

import psutil

_MEMORY = Path("/dev/shm")
_ROOM_BYTES = 4 * 1024**3
"""Three servers at once take a few hundred megabytes each; a container often has 64 in all."""


def database_folder() -> tempfile.TemporaryDirectory[str]:
    """A new folder, by a short path, that is removed at the end of its block.

    Each test has a database of its own, a copy of some thousand files: on a busy disk that took
    five to ten times as much processor time as in memory.
    """
    _remove_left_folders()
    has_room = _MEMORY.is_dir() and shutil.disk_usage(_MEMORY).free >= _ROOM_BYTES
    # Not pytest's tmp_path: PostgreSQL's user must reach the folder.
    return tempfile.TemporaryDirectory(
        prefix=f"hf-{os.getpid()}-", dir=_MEMORY if has_room else None
    )


def _remove_left_folders() -> None:
    """Remove what runs of the tests left in memory that were killed."""
    for folder in _MEMORY.glob("hf-*-*"):
        owner = folder.name.split("-")[1]
        if owner.isdecimal() and not psutil.pid_exists(int(owner)):
            shutil.rmtree(folder, ignore_errors=True)
