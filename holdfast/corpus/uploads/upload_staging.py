"""Keep the files of uploads in the home folder until their collection has them.

Each upload has a folder `uploads/ID`, which only the installation's user can read. The folder gets
its name when every file is whole, so a server that was killed leaves no upload half-written.
"""

import fcntl
import os
import shutil
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import BinaryIO

_FOLDER = "uploads"
_PART = ".part"
_MODE = 0o700
_COPY_BYTES = 2**20
_ABANDONED_AFTER_S = 24 * 3600


@dataclass(frozen=True)
class UploadStaging:
    """The folders of all uploads of one home folder."""

    home: Path

    @property
    def _root(self) -> Path:
        return self.home / _FOLDER

    def folder_of(self, upload_id: str) -> Path:
        return self._root / upload_id

    def store(self, upload_id: str, files: Iterable[tuple[PurePosixPath, BinaryIO]]) -> None:
        """Write the files of a new upload; the paths must have been checked."""
        part = self._root / f"{upload_id}{_PART}"
        part.mkdir(mode=_MODE, parents=True)
        try:
            for path, content in files:
                place = part / path
                place.parent.mkdir(mode=_MODE, parents=True, exist_ok=True)
                with place.open("xb") as file:
                    shutil.copyfileobj(content, file, _COPY_BYTES)
            part.rename(self.folder_of(upload_id))
        except BaseException:
            shutil.rmtree(part, ignore_errors=True)
            raise

    def remove(self, upload_id: str) -> None:
        shutil.rmtree(self.folder_of(upload_id), ignore_errors=True)

    def stored_ids(self) -> list[str]:
        """The uploads whose files are here; folders that a killed server left go after a day."""
        if not self._root.is_dir():
            return []
        ids = []
        for folder in sorted(self._root.iterdir()):
            if folder.suffix != _PART:
                ids.append(folder.name)
            elif is_abandoned(folder):
                shutil.rmtree(folder, ignore_errors=True)
        return ids

    @contextmanager
    def claimed(self, upload_id: str) -> Iterator[bool]:
        """True if no other server reads this upload; the claim ends with the process."""
        try:
            descriptor = os.open(self.folder_of(upload_id), os.O_RDONLY | os.O_DIRECTORY)
        except FileNotFoundError:
            yield False
            return
        try:
            yield _is_locked(descriptor)
        finally:
            os.close(descriptor)


def is_abandoned(folder: Path) -> bool:
    """True if nothing has changed in the folder for a day."""
    try:
        return time.time() - folder.stat().st_mtime > _ABANDONED_AFTER_S
    except FileNotFoundError:
        return False


def _is_locked(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
