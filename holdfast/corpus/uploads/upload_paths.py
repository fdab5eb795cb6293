"""Check the paths that the files of an upload have below their collection's folder."""

from collections.abc import Sequence
from pathlib import PurePosixPath

from holdfast.models.errors import BadInput

_MAX_PATH_BYTES = 1000
_MAX_NAME_BYTES = 200
_MAX_FOLDERS = 20


def checked_upload_paths(names: Sequence[str]) -> list[PurePosixPath]:
    """The paths of an upload's files.

    Raises:
        BadInput: a path is not relative, leads out of the folder, is too long, cannot be printed,
            or belongs to two files.
    """
    paths = [_checked_path(name) for name in names]
    files = set(paths)
    if len(files) < len(paths):
        twice = next(str(path) for path in paths if paths.count(path) > 1)
        raise BadInput(f"two files are named {twice!r}; give each file a name of its own")
    for path in paths:
        for folder in path.parents:
            if folder in files:
                raise BadInput(f"{str(folder)!r} is the name of a file and of a folder; rename one")
    return paths


def _checked_path(name: str) -> PurePosixPath:
    shown = repr(name[:120])
    if not name.strip():
        raise BadInput("a file has no name; send each file with its path as `filename`")
    if not name.isprintable() or "\\" in name:
        raise BadInput(f"{shown} cannot name a file; use printable signs, and / between folders")
    parts = name.split("/")
    if any(part in ("", ".", "..") for part in parts):
        raise BadInput(f"{shown} leads out of the folder; use a path such as reports/2024.pdf")
    sizes = [len(part.encode()) for part in parts]
    if max(sizes) > _MAX_NAME_BYTES or sum(sizes) > _MAX_PATH_BYTES or len(parts) > _MAX_FOLDERS:
        raise BadInput(
            f"{shown} is too long: a name has at most {_MAX_NAME_BYTES} bytes, and a path "
            f"{_MAX_PATH_BYTES} bytes and {_MAX_FOLDERS} parts"
        )
    return PurePosixPath(name)
