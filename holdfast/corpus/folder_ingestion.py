"""Read a folder of documents into a collection; skip files that have not changed."""

import asyncio
import hashlib
import os
import re
import stat
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from holdfast.corpus.folder_files import (
    folder_and_file,
    hidden_files,
    is_sent,
    named_files,
    visible_files,
    whole_folder,
)
from holdfast.models.corpus.search_language import SearchLanguage
from holdfast.models.errors import BadInput
from holdfast.storage.core.database import Database
from holdfast.storage.corpus.collection_writer import CollectionWriter
from holdfast.storage.corpus.corpus_records import NewDocument, StoredDocument
from holdfast.storage.corpus.corpus_store import CorpusStore
from holdfast.tools.documents.document_processes import DocumentProcesses
from holdfast.tools.documents.document_reader import (
    DOCUMENT_ENDINGS,
    MAX_DOCUMENT_BYTES,
    DocumentText,
    check_document_ending,
)
from holdfast.tools.documents.passage_splitter import split_passages
from holdfast.tools.mcp.answers.answer_passages import AnswerSource

MessageCallback = Callable[[str], object]
ProgressCallback = Callable[[str, int, int], object]
IS_HIDDEN = "is hidden"
"""Why a file is skipped whose name begins with a dot."""
_MAX_REASONS = 3
_BATCH_PASSAGES = 1000
"""Passages per transaction; one transaction per document takes five times as long."""
_BATCH_SECONDS = 2.0
"""Documents are stored at this interval: a PDF takes seconds, and Ctrl-C loses the rest."""


@dataclass(frozen=True)
class IngestResult:
    """The result of reading a folder; `skipped` has pairs (path in the folder, reason)."""

    collection: str
    added: int
    changed: int
    unchanged: int
    removed: int
    skipped: tuple[tuple[str, str], ...]
    read_again_as: SearchLanguage | None = None
    """The language in which the words of the whole collection were read again."""


@dataclass(frozen=True)
class IngestOptions:
    """How to read a folder; `metadata` is added to the documents' own metadata."""

    metadata: Mapping[str, str] = field(default_factory=dict)
    replaces_collection: bool = True
    """True: remove all other documents of the collection; False: mirror only this folder."""
    say: MessageCallback = lambda _: None
    tell: ProgressCallback = lambda *_: None
    origin: str = ""
    """Where the documents come from; empty: the folder."""
    reads_new_files: bool = True
    """False: read only files that are documents of the collection already."""
    is_rereading: bool = False
    """True: what the collection has stays where in doubt. Documents from elsewhere, and those of
    files and folders that cannot be read, stay; a changed document keeps the metadata that its file
    does not state."""
    language: SearchLanguage | None = None
    """The language of the whole collection, which is read again if it is another; None: a
    collection keeps its own, and a new one gets `new_language`."""
    new_language: SearchLanguage = SearchLanguage.ENGLISH


async def ingest_folder(
    database: Database,
    path: Path,
    collection: str | None = None,
    say: MessageCallback = lambda _: None,
    *,
    options: IngestOptions | None = None,
) -> IngestResult:
    """Bring the collection up to date with the folder or file, and return what changed.

    A repetition reads only changed files; a concurrent call waits for the first. A file that
    cannot be read is skipped, and its earlier document is removed. Documents stored before an
    interruption stay.

    Raises:
        BadInput: the path is missing or has no readable document; the collection is unchanged.
        StorageAway: PostgreSQL does not answer.
    """
    chosen = options or IngestOptions(say=say)
    root, only = await asyncio.to_thread(folder_and_file, path)
    name = collection or default_collection_name(root)
    first = chosen.language or chosen.new_language
    async with (
        CorpusStore(database).writing(name, first) as writer,
        DocumentProcesses() as processes,
    ):
        known = {document.address: document for document in await writer.documents()}
        is_whole = not only and chosen.reads_new_files
        reading = _FolderReader(root, writer, processes, known, chosen, is_whole)
        places = [only] if only else await asyncio.to_thread(reading.places)
        for number, place in enumerate(places, start=1):
            await reading.read_file(place)
            chosen.tell("reading", number, len(places))
        await reading.flush()
        if not only and chosen.reads_new_files:
            await reading.skip_hidden()
        if not reading.kept:
            raise BadInput(_no_documents_message(path, reading.skipped))
        if chosen.metadata and reading.unchanged:
            await writer.describe(reading.unchanged, chosen.metadata)
        is_changed = chosen.language and await writer.change_language(chosen.language)
        if is_whole and not chosen.origin:
            await writer.note_origin(reading.unchanged_of_folders(), reading.origin)
        removed = await _remove_others(writer, reading, is_one=bool(only), options=chosen)
    result = reading.result(name, removed)
    return replace(result, read_again_as=chosen.language) if is_changed else result


def default_collection_name(path: Path) -> str:
    """Return the default collection of a folder; equal for all spellings of its path."""
    place = path.expanduser().resolve()
    stem = re.sub(r"\W+", "-", place.name.lower()).strip("-")[:40] or "documents"
    return f"{stem}-{hashlib.sha256(os.fsencode(place)).hexdigest()[:8]}"


async def _remove_others(
    writer: CollectionWriter, reading: "_FolderReader", *, is_one: bool, options: IngestOptions
) -> int:
    if is_one or (options.is_rereading and reading.has_unread_folder):
        return 0
    origins = None if options.replaces_collection else (str(reading.root), reading.origin)
    return await writer.keep_only(reading.kept | reading.spared, origins=origins)


@dataclass
class _FolderReader:
    root: Path
    writer: CollectionWriter
    processes: DocumentProcesses
    known: dict[str, StoredDocument]
    options: IngestOptions
    is_whole: bool
    """True if every document of the folder is read, and not one that was named."""
    kept: set[str] = field(default_factory=set)
    spared: set[str] = field(default_factory=set)
    """Documents that stay although their files cannot be read."""
    has_unread_folder: bool = False
    unchanged: list[str] = field(default_factory=list)
    added: int = 0
    changed: int = 0
    skipped: list[tuple[str, str]] = field(default_factory=list)
    _read: list[NewDocument] = field(default_factory=list)
    _since: float = field(default_factory=time.monotonic)

    @property
    def origin(self) -> str:
        if self.options.origin:
            return self.options.origin
        return whole_folder(self.root) if self.is_whole else str(self.root)

    @property
    def own_origins(self) -> tuple[str, str]:
        """The origins of the folder's documents: read as a whole, and named one by one."""
        return whole_folder(self.root), str(self.root)

    def places(self) -> list[str]:
        """Return the files to read, below the root; record the folders that cannot be read."""
        if self.options.reads_new_files:
            found = visible_files(self.root)
        else:
            named = [each.address for each in self.known.values() if self._is_own(each)]
            found = named_files(self.root, named)
        reasons = dict(found.unread)
        if self.options.is_rereading:
            # A disk that is not mounted is an empty folder.
            emptied = [each for each in found.empty if self._has_documents_in(each)]
            reasons |= dict.fromkeys(emptied, "has no file any more")
            reasons = {each: f"{why}; no document is removed" for each, why in reasons.items()}
        self.has_unread_folder = bool(reasons)
        for folder, reason in sorted(reasons.items()):
            self._skip(folder, BadInput(reason))
        return sorted(found.places)

    def unchanged_of_folders(self) -> list[str]:
        """Return the unchanged documents, without those that were sent to a server.

        All of them, if the collection becomes what the folder is.
        """
        return [
            address
            for address in self.unchanged
            if self.options.replaces_collection or not is_sent(self.known[address].origin)
        ]

    def _is_own(self, document: StoredDocument) -> bool:
        return document.origin in self.own_origins

    def _has_documents_in(self, folder: str) -> bool:
        beginning = f"{AnswerSource('corpus.read').address(folder)}/"
        own = (each.address for each in self.known.values() if self._is_own(each))
        return any(address.startswith(beginning) for address in own)

    async def read_file(self, place: str) -> None:
        """Bring the document of a file up to date, or record why not; `place` is below the root."""
        # The address as it will be cited, so that a citation leads back to the document.
        address = AnswerSource("corpus.read").address(place)
        if address in self.kept:
            self._skip(place, BadInput("has a name that looks like another file's: rename it"))
            return
        known = self.known.get(address)
        rereads = self.options.is_rereading
        if rereads and known is not None and not self._is_own(known):
            self._skip(place, BadInput("has the name of a document from elsewhere: rename it"))
            return
        # A document stored without metadata is read again, once.
        sha256 = known.sha256 if known is not None and known.metadata else None
        try:
            document = await self._document(place, sha256)
        except (BadInput, OSError) as error:
            if rereads:
                self.spared.add(address)
            self._skip(place, error)
            return
        self.kept.add(address)
        if document is None:
            self.unchanged.append(address)
            return
        former = known.metadata if known is not None and rereads else {}
        about = {**former, **document.metadata, **self.options.metadata}
        named = replace(document, address=address, metadata=about, origin=self.origin)
        self._read.append(named)
        is_large = sum(len(document.passages) for document in self._read) >= _BATCH_PASSAGES
        if is_large or time.monotonic() - self._since > _BATCH_SECONDS:
            await self.flush()

    async def _document(self, place: str, known_sha256: str | None) -> NewDocument | None:
        """Return the document of the file, or None if its bytes have the given hash."""
        file = await asyncio.to_thread(_file_content, self.root, place)
        if file.sha256 == known_sha256:
            return None
        text = await self.processes.read(place, file.data)
        return await asyncio.to_thread(_new_document, place, file, text)

    async def flush(self) -> None:
        """Store the documents read so far in one transaction."""
        read, self._read = self._read, []
        await self.writer.put(*read)
        self._since = time.monotonic()
        for document in read:
            is_new = document.address not in self.known
            self.added += is_new
            self.changed += not is_new
            self.options.say(f"read {document.address}: {len(document.passages)} passages")

    async def skip_hidden(self) -> None:
        """Record the hidden files and folders as skipped."""
        for address in await asyncio.to_thread(lambda: sorted(hidden_files(self.root))):
            self._skip(address, BadInput(IS_HIDDEN))

    def result(self, collection: str, removed: int) -> IngestResult:
        unchanged = len(self.kept) - self.added - self.changed
        skipped = tuple(self.skipped)
        return IngestResult(collection, self.added, self.changed, unchanged, removed, skipped)

    def _skip(self, address: str, error: BadInput | OSError) -> None:
        reason = (isinstance(error, OSError) and error.strerror) or str(error)
        reason = reason.removeprefix(f"{address!r} ")
        shown = address.encode("utf-8", "backslashreplace").decode("utf-8")
        self.skipped.append((shown, reason))
        self.options.say(f"skipped {shown}: {reason}")


def _no_documents_message(path: Path, skipped: list[tuple[str, str]]) -> str:
    reasons = "".join(f"; {path}: {reason}" for path, reason in skipped[:_MAX_REASONS])
    return (
        f"{str(path)!r} has no document that can be read ({', '.join(DOCUMENT_ENDINGS)}){reasons}"
    )


def _new_document(address: str, file: "_FileContent", document: DocumentText) -> NewDocument:
    about = {"modified": file.modified, "date": file.modified} | document.metadata
    passages = split_passages(document.text)
    return NewDocument(
        address,
        document.title,
        document.text,
        file.sha256,
        len(file.data),
        passages,
        metadata=about,
    )


class _FileContent(NamedTuple):
    """The bytes of a file, their hash, and the day of their last change."""

    data: bytes
    sha256: str
    modified: str


def _file_content(root: Path, address: str) -> _FileContent:
    entry = root / address
    if entry.is_symlink() and not entry.exists():
        raise BadInput("is a broken link")
    if entry.is_symlink() and entry.is_dir():
        raise BadInput("is a link to a folder; it is not followed")
    check_document_ending(address)
    if address.encode("utf-8", "ignore").decode("utf-8") != address:
        raise BadInput("has a name that is not UTF-8: rename it")
    path = entry.resolve()
    if not path.is_relative_to(root):
        raise BadInput("is a link to a file outside the folder: copy the file into the folder")
    status = path.stat()
    if not stat.S_ISREG(status.st_mode):  # opening a pipe would wait forever
        raise BadInput("is not a file")
    if status.st_size > MAX_DOCUMENT_BYTES:
        raise BadInput(f"is larger than {MAX_DOCUMENT_BYTES // 2**20} MB: split it")
    day = datetime.fromtimestamp(status.st_mtime, UTC).date().isoformat()
    data = path.read_bytes()
    return _FileContent(data, hashlib.sha256(data).hexdigest(), day)
