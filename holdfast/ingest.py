"""Reads a folder of documents into a collection; what did not change is not read again."""

import asyncio
import hashlib
import os
import re
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from models.errors import BadInput
from storage.corpus import CollectionWriter, Corpus, NewDocument
from storage.database import Database
from tools.documents import ENDINGS, MAX_BYTES, check_ending, read_document
from tools.passages import split_passages

Say = Callable[[str], object]
_SHOWN = 3


@dataclass(frozen=True)
class Ingested:
    """What a reading of a folder did; `skipped` holds (path below the folder, reason)."""

    collection: str
    added: int
    changed: int
    unchanged: int
    removed: int
    skipped: tuple[tuple[str, str], ...]


async def ingest(
    database: Database, folder: Path, collection: str | None = None, say: Say = lambda _: None
) -> Ingested:
    """Make the collection hold what the folder holds, and say each document that was read.

    Repeating reads only what changed; a second one at the same time waits for the first. A file
    that cannot be read is skipped, and what an earlier reading stored of it is removed.

    Raises:
        BadInput: the folder is missing, or nothing in it can be read; the collection stays.
        StorageAway: PostgreSQL does not answer.
    """
    root = await asyncio.to_thread(_root, folder)
    name = collection or collection_for(root)
    async with Corpus(database).writing(name) as writer:
        known = {document.address: document.sha256 for document in await writer.documents()}
        reading = _Reading(root, writer, known, say)
        for address in await asyncio.to_thread(lambda: sorted(_files(root))):
            await reading.take(address)
        if not reading.kept:
            raise BadInput(_nothing(folder, reading.skipped))
        removed = await writer.keep_only(reading.kept)
    return reading.result(name, removed)


def collection_for(folder: Path) -> str:
    """The name of a folder's collection: the same for the same place, however it is written."""
    place = folder.expanduser().resolve()
    stem = re.sub(r"\W+", "-", place.name.lower()).strip("-")[:40] or "documents"
    return f"{stem}-{hashlib.sha256(os.fsencode(place)).hexdigest()[:8]}"


@dataclass
class _Reading:
    root: Path
    writer: CollectionWriter
    known: dict[str, str]
    say: Say
    kept: set[str] = field(default_factory=set)
    added: int = 0
    changed: int = 0
    skipped: list[tuple[str, str]] = field(default_factory=list)

    async def take(self, address: str) -> None:
        """Bring one file's document up to date, or note why not."""
        known = self.known.get(address)
        try:
            # In a thread: a PDF takes seconds, and others may share this loop.
            document = await asyncio.to_thread(_document, self.root, address, known)
        except (BadInput, OSError) as error:
            self._skip(address, error)
            return
        if document is not None:
            await self.writer.put(document)
            self.added += known is None
            self.changed += known is not None
            self.say(f"read {address}: {len(document.passages)} passages")
        self.kept.add(address)

    def result(self, collection: str, removed: int) -> Ingested:
        unchanged = len(self.kept) - self.added - self.changed
        skipped = tuple(self.skipped)
        return Ingested(collection, self.added, self.changed, unchanged, removed, skipped)

    def _skip(self, address: str, error: BadInput | OSError) -> None:
        reason = (isinstance(error, OSError) and error.strerror) or str(error)
        reason = reason.removeprefix(f"{address!r} ")
        shown = address.encode("utf-8", "backslashreplace").decode("utf-8")
        self.skipped.append((shown, reason))
        self.say(f"skipped {shown}: {reason}")


def _root(folder: Path) -> Path:
    root = folder.expanduser().resolve()
    if not root.exists():
        raise BadInput(f"there is no folder {str(folder)!r}")
    if not root.is_dir():
        raise BadInput(f"{str(folder)!r} is a file: name the folder that it lies in")
    return root


def _nothing(folder: Path, skipped: list[tuple[str, str]]) -> str:
    reasons = "".join(f"; {path}: {reason}" for path, reason in skipped[:_SHOWN])
    return f"{str(folder)!r} holds no document that can be read ({', '.join(ENDINGS)}){reasons}"


def _files(root: Path) -> Iterator[str]:
    """Addresses of all that is not hidden, links to folders included and not followed."""
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if not name.startswith(".")]
        links = [name for name in folders if Path(folder, name).is_symlink()]
        for name in names + links:
            if not name.startswith("."):
                yield Path(folder, name).relative_to(root).as_posix()


def _document(root: Path, address: str, known_sha256: str | None) -> NewDocument | None:
    """The file's document, or None if its bytes are those that are known."""
    data = _bytes(root, address)
    sha256 = hashlib.sha256(data).hexdigest()
    if sha256 == known_sha256:
        return None
    document = read_document(address, data)
    passages = split_passages(document.text)
    return NewDocument(address, document.title, document.text, sha256, len(data), passages)


def _bytes(root: Path, address: str) -> bytes:
    check_ending(address)
    if address.encode("utf-8", "ignore").decode("utf-8") != address:
        raise BadInput("has a name that is not UTF-8: rename it")
    path = (root / address).resolve()
    if not path.is_relative_to(root):
        raise BadInput("is a link out of the folder: put the file itself there")
    found = path.stat()
    if not stat.S_ISREG(found.st_mode):  # opening a pipe would wait forever
        raise BadInput("is not a file")
    if found.st_size > MAX_BYTES:
        raise BadInput(f"is larger than {MAX_BYTES // 2**20} MB: split it")
    return path.read_bytes()
