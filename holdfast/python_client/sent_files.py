"""Collect the files of a folder or a file for an upload."""

from collections.abc import Iterable
from pathlib import Path

_BUNDLE_NAME = "job.crate.zip"

FileField = tuple[str, tuple[str, bytes]]


def file_fields(paths: Iterable[Path | str]) -> list[FileField]:
    """The form fields of files and folders; hidden files and folders stay out.

    A file of a folder keeps its path below the folder.

    Raises:
        FileNotFoundError: there is no such file or folder, or no visible file in it.
    """
    fields = [field for path in paths for field in _fields_of(Path(path).expanduser())]
    if not fields:
        raise FileNotFoundError("there is no visible file to send")
    return fields


def bundle_field(path: Path | str) -> FileField:
    """The form field of a bundle."""
    return ("bundle", (_BUNDLE_NAME, Path(path).expanduser().read_bytes()))


def write_file(path: Path | str, content: bytes) -> None:
    """Write the bytes to a file."""
    Path(path).expanduser().write_bytes(content)


def _fields_of(path: Path) -> list[FileField]:
    if path.is_file():
        return [("files", (path.name, path.read_bytes()))]
    if not path.is_dir():
        raise FileNotFoundError(f"there is no file or folder {str(path)!r}")
    found = []
    for file in sorted(path.rglob("*")):
        name = file.relative_to(path)
        if file.is_file() and not any(part.startswith(".") for part in name.parts):
            found.append(("files", (name.as_posix(), file.read_bytes())))
    return found
