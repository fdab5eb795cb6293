"""Where the PostgreSQL servers of tests keep their data: in memory, where there is room."""

import shutil
import tempfile
from pathlib import Path

_MEMORY = Path("/dev/shm")
_ROOM_BYTES = 4 * 1024**3
"""Three servers at once take a few hundred megabytes each; a container often has 64 in all."""


def database_folder() -> tempfile.TemporaryDirectory[str]:
    """A new folder, by a short path, that is removed at the end of its block.

    Each test has a database of its own, a copy of some thousand files: on a busy disk that took
    five to ten times as much processor time as in memory.
    """
    has_room = _MEMORY.is_dir() and shutil.disk_usage(_MEMORY).free >= _ROOM_BYTES
    # Not pytest's tmp_path: PostgreSQL's user must reach the folder.
    return tempfile.TemporaryDirectory(prefix="hf-", dir=_MEMORY if has_room else None)
