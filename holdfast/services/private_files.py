"""Write files that only their owner may read, whatever the umask is, and follow no link."""

import os
import tempfile
from pathlib import Path
from typing import BinaryIO

_MODE = 0o600


def write_private_file(path: Path, text: str) -> None:
    """Replace the file in one operation, so that no reader sees an incomplete file.

    Several processes may do so at once: each has a new file of its own, and the last one stays.
    """
    # Only its owner may read such a file, and no link in its place is followed.
    descriptor, name = tempfile.mkstemp(prefix=f"{path.name}.", suffix=".new", dir=path.parent)
    new = Path(name)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        new.replace(path)
    except BaseException:
        new.unlink(missing_ok=True)
        raise


def create_private_file(path: Path) -> None:
    """Create an empty file in the place of whatever is there; a link is removed, not followed.

    Raises:
        OSError: the file cannot be created.
    """
    os.close(_create(path))


def touch_private_file(path: Path) -> None:
    """Create an empty file unless there is one.

    Raises:
        OSError: the file cannot be created, or is a link.
    """
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW, _MODE))


def open_private_log(path: Path) -> BinaryIO:
    """Open the file to append to it.

    Raises:
        OSError: the file cannot be written, or is a link.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW
    descriptor = os.open(path, flags, _MODE)
    os.fchmod(descriptor, _MODE)
    return os.fdopen(descriptor, "ab")


def _create(path: Path) -> int:
    path.unlink(missing_ok=True)  # of a process that died
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, _MODE)
