"""Find the files of a folder, and say of which folder a document is."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from holdfast.models.errors import BadInput
from holdfast.tools.mcp.answers.answer_passages import AnswerSource


@dataclass(frozen=True)
class FoundFiles:
    """Files of a folder, and the folders below it that have none; paths are below the folder."""

    places: list[str] = field(default_factory=list)
    unread: dict[str, str] = field(default_factory=dict)
    """The folders that could not be read, each with the reason."""
    empty: list[str] = field(default_factory=list)
    """Folders without anything: a disk that is not mounted leaves such a one."""


def whole_folder(root: Path) -> str:
    """Return the origin of documents whose whole folder was read: its path, and a slash.

    The path alone is the origin of documents that were named one by one: their folder may have
    files that nobody wants to be read. So the whole root folder is `//`.
    """
    return f"{root}/"


def folder_of(origin: str) -> Path | None:
    """Return the folder of both kinds of origins; None: its documents were sent to a server."""
    return None if is_sent(origin) or not origin else _single_root(Path(origin))


def is_sent(origin: str) -> bool:
    """Return True if documents of the origin are of no folder; of old ones it is not known."""
    return bool(origin) and not Path(origin).is_absolute()


def folder_and_file(path: Path) -> tuple[Path, str]:
    """Return the folder, and the file if the path names a file.

    Raises:
        BadInput: there is nothing at the path, or it may not be seen.
    """
    place = _single_root(path.expanduser().resolve())
    # In a folder that may not be entered, `Path.exists` raises an error; this returns False.
    if not os.path.exists(place):  # noqa: PTH110
        raise BadInput(f"there is no folder or file {str(path)!r}")
    return (place, "") if place.is_dir() else (place.parent, place.name)


def visible_files(root: Path) -> FoundFiles:
    """Find all visible files and links; links to folders are not followed."""
    found = FoundFiles()

    def note(error: OSError) -> None:
        folder = Path(os.fsdecode(error.filename or root))
        found.unread[folder.relative_to(root).as_posix()] = error.strerror or str(error)

    for folder, folders, names in os.walk(root, onerror=note):
        if not folders and not names:
            found.empty.append(Path(folder).relative_to(root).as_posix())
        folders[:] = [name for name in folders if not name.startswith(".")]
        links = [name for name in folders if Path(folder, name).is_symlink()]
        for name in names + links:
            if not name.startswith("."):
                found.places.append(Path(folder, name).relative_to(root).as_posix())
    return found


def named_files(root: Path, addresses: Sequence[str]) -> FoundFiles:
    """Find the files of documents at these addresses, and no others.

    An address lacks the characters of a file's name that steer a terminal.
    """
    found = FoundFiles()
    lost = set()
    for address in addresses:
        if os.path.lexists(root / address):
            found.places.append(address)
        else:
            lost.add(address)
    for folder in {os.path.dirname(address) for address in lost}:  # noqa: PTH120
        try:
            names = os.listdir(root / folder)  # noqa: PTH208
        except OSError as error:
            found.unread[folder or "."] = error.strerror or str(error)
            continue
        places = (os.path.join(folder, name) for name in names)  # noqa: PTH118
        source = AnswerSource("corpus.read")
        found.places.extend(place for place in places if source.address(place) in lost)
    return found


def hidden_files(root: Path) -> Iterator[str]:
    """Return the addresses of hidden files and folders; a hidden folder counts once."""
    for folder, folders, names in os.walk(root):
        hidden = [name for name in (*folders, *names) if name.startswith(".")]
        folders[:] = [name for name in folders if not name.startswith(".")]
        yield from (Path(folder, name).relative_to(root).as_posix() for name in hidden)


def _single_root(path: Path) -> Path:
    """Return the path with one slash at its beginning; `//x` is another spelling of `/x`."""
    return Path("/", *path.parts[1:]) if path.is_absolute() else path
