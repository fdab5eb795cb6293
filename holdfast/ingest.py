"""Reads a folder of documents into a collection; what did not change is not read again."""

import asyncio
import hashlib
import os
import re
import stat
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from models.errors import BadInput
from storage.corpus import CollectionWriter, Corpus, NewDocument, StoredDocument
from storage.database import Database
from tools.documents import ENDINGS, MAX_BYTES, check_ending, read_document
from tools.passages import split_passages
from tools.told import Giver

Say = Callable[[str], object]
Tell = Callable[[str, int, int], object]
_SHOWN = 3
_BATCH = 1000
"""Passages: one transaction for so many takes a fifth of the time of one for each document."""
_BATCH_S = 2.0
"""What was read is stored after so long, as PDFs take seconds each and Ctrl-C may come."""


@dataclass(frozen=True)
class Ingested:
    """What a reading of a folder did; `skipped` holds (path below the folder, reason)."""

    collection: str
    added: int
    changed: int
    unchanged: int
    removed: int
    skipped: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Manner:
    """How a folder is read; `metadata` is added to what its documents say of themselves."""

    metadata: Mapping[str, str] = field(default_factory=dict)
    is_whole: bool = True
    """Whether the collection is to hold nothing else; or else only this folder is mirrored."""
    say: Say = lambda _: None
    tell: Tell = lambda *_: None


async def ingest(
    database: Database,
    path: Path,
    collection: str | None = None,
    say: Say = lambda _: None,
    *,
    manner: Manner | None = None,
) -> Ingested:
    """Make the collection hold what the folder holds, or the one file, and say what was read.

    Repeating reads only what changed; a second one at the same time waits for the first. A file
    that cannot be read is skipped, and what an earlier reading stored of it is removed. What was
    stored before an interruption stays.

    Raises:
        BadInput: the path is missing, or nothing in it can be read; the collection stays.
        StorageAway: PostgreSQL does not answer.
    """
    chosen = manner or Manner(say=say)
    root, only = await asyncio.to_thread(_root, path)
    name = collection or collection_for(root)
    async with Corpus(database).writing(name) as writer:
        known = {document.address: document for document in await writer.documents()}
        reading = _Reading(root, writer, known, chosen)
        addresses = [only] if only else await asyncio.to_thread(lambda: sorted(_files(root)))
        for number, address in enumerate(addresses, start=1):
            await reading.take(address)
            chosen.tell("reading", number, len(addresses))
        await reading.flush()
        if not reading.kept:
            raise BadInput(_nothing(path, reading.skipped))
        if chosen.metadata and reading.unchanged:
            await writer.describe(reading.unchanged, chosen.metadata)
        removed = await _remove_others(writer, reading, is_one=bool(only), manner=chosen)
    return reading.result(name, removed)


def collection_for(path: Path) -> str:
    """The name of a folder's collection: the same for the same place, however it is written."""
    place = path.expanduser().resolve()
    stem = re.sub(r"\W+", "-", place.name.lower()).strip("-")[:40] or "documents"
    return f"{stem}-{hashlib.sha256(os.fsencode(place)).hexdigest()[:8]}"


async def _remove_others(
    writer: CollectionWriter, reading: "_Reading", *, is_one: bool, manner: Manner
) -> int:
    if is_one:
        return 0
    origin = None if manner.is_whole else reading.origin
    return await writer.keep_only(reading.kept, origin=origin)


@dataclass
class _Reading:
    root: Path
    writer: CollectionWriter
    known: dict[str, StoredDocument]
    manner: Manner
    kept: set[str] = field(default_factory=set)
    unchanged: list[str] = field(default_factory=list)
    added: int = 0
    changed: int = 0
    skipped: list[tuple[str, str]] = field(default_factory=list)
    _read: list[NewDocument] = field(default_factory=list)
    _since: float = field(default_factory=time.monotonic)

    @property
    def origin(self) -> str:
        return str(self.root)

    async def take(self, place: str) -> None:
        """Bring one file's document up to date, or note why not; `place` is below the root."""
        # As it will be cited: by another address the document could not be found again.
        address = Giver("corpus.read").address(place)
        if address in self.kept:
            self._skip(place, BadInput("has a name that reads as another file's: rename it"))
            return
        known = self.known.get(address)
        # A document from before metadata was read is read again, once.
        sha256 = known.sha256 if known is not None and known.metadata else None
        try:
            # In a thread: a PDF takes seconds, and others may share this loop.
            document = await asyncio.to_thread(_document, self.root, place, sha256)
        except (BadInput, OSError) as error:
            self._skip(place, error)
            return
        self.kept.add(address)
        if document is None:
            self.unchanged.append(address)
            return
        about = {**document.metadata, **self.manner.metadata}
        named = replace(document, address=address, metadata=about, origin=self.origin)
        self._read.append(named)
        is_large = sum(len(each.passages) for each in self._read) >= _BATCH
        if is_large or time.monotonic() - self._since > _BATCH_S:
            await self.flush()

    async def flush(self) -> None:
        """Store what was read, in one transaction."""
        read, self._read = self._read, []
        await self.writer.put(*read)
        self._since = time.monotonic()
        for document in read:
            is_new = document.address not in self.known
            self.added += is_new
            self.changed += not is_new
            self.manner.say(f"read {document.address}: {len(document.passages)} passages")

    def result(self, collection: str, removed: int) -> Ingested:
        unchanged = len(self.kept) - self.added - self.changed
        skipped = tuple(self.skipped)
        return Ingested(collection, self.added, self.changed, unchanged, removed, skipped)

    def _skip(self, address: str, error: BadInput | OSError) -> None:
        reason = (isinstance(error, OSError) and error.strerror) or str(error)
        reason = reason.removeprefix(f"{address!r} ")
        shown = address.encode("utf-8", "backslashreplace").decode("utf-8")
        self.skipped.append((shown, reason))
        self.manner.say(f"skipped {shown}: {reason}")


def _root(path: Path) -> tuple[Path, str]:
    """The folder, and the one file in it that is meant, if the path names a file."""
    place = path.expanduser().resolve()
    if not place.exists():
        raise BadInput(f"there is no folder or file {str(path)!r}")
    return (place, "") if place.is_dir() else (place.parent, place.name)


def _nothing(path: Path, skipped: list[tuple[str, str]]) -> str:
    reasons = "".join(f"; {path}: {reason}" for path, reason in skipped[:_SHOWN])
    return f"{str(path)!r} holds no document that can be read ({', '.join(ENDINGS)}){reasons}"


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
    data, modified = _bytes(root, address)
    sha256 = hashlib.sha256(data).hexdigest()
    if sha256 == known_sha256:
        return None
    document = read_document(address, data)
    about = {"modified": modified, "date": modified} | document.metadata
    passages = split_passages(document.text)
    return NewDocument(
        address, document.title, document.text, sha256, len(data), passages, metadata=about
    )


def _bytes(root: Path, address: str) -> tuple[bytes, str]:
    """What is in the file, and the day when it was last changed."""
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
    day = datetime.fromtimestamp(found.st_mtime, UTC).date().isoformat()
    return path.read_bytes(), day
