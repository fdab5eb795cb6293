"""Bring a collection up to date with the folders that its documents come from."""

import asyncio
import os
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

from holdfast.corpus.corpus_update import add_documents
from holdfast.corpus.folder_files import folder_of, named_files, whole_folder
from holdfast.corpus.folder_ingestion import IS_HIDDEN, IngestOptions, IngestResult
from holdfast.models.errors import BadConfiguration, BadInput
from holdfast.models.frozen_model import Frozen
from holdfast.settings import Settings
from holdfast.storage.core.database import Database
from holdfast.storage.corpus.corpus_records import StoredDocument
from holdfast.storage.corpus.corpus_store import CorpusStore

_MOST_SKIPPED = 3


class FolderReading(Frozen):
    """What became of a folder whose documents a job reads."""

    folder: str
    """Its path; empty for a caller of the API, who does not learn the paths of the server."""
    is_read: bool
    """False: the documents of the collection are those of an earlier reading."""
    added: int = 0
    changed: int = 0
    unchanged: int = 0
    removed: int = 0
    note: str = ""
    """Why the folder was not read, or which of its files were not."""


async def read_folders_again(
    settings: Settings, db: Database, collection: str
) -> tuple[FolderReading, ...]:
    """Read the folders of the collection's documents as `--docs` does, and say which are gone.

    Where documents were named one by one, no other file of their folder is read. A folder counts as
    gone if it has no file of the collection any more, so an unmounted disk empties no collection.
    After a subfolder that cannot be read, no document is removed. A document whose file cannot be
    read stays. A document of the same address that comes from elsewhere stays as it is. Documents
    that were sent to a server come from no folder. On behalf of an owner nothing is read: the
    folders belong to the machine. A fault of one folder becomes its note.
    """
    if not collection:
        return ()
    documents = await CorpusStore(db).documents(collection)
    folders = _by_folder(documents)
    if folders and db.serves_owner:
        newest = max(each.added_at for those in folders.values() for each in those)
        return (
            FolderReading(
                folder="",
                is_read=False,
                note="the documents are those of the last reading of their folder, the newest of "
                f"{newest:%Y-%m-%d %H:%M} UTC: only the machine with the folder can read it again",
            ),
        )
    return tuple(
        [await _read(settings, db, collection, root, those) for root, those in folders.items()]
    )


def _by_folder(documents: Sequence[StoredDocument]) -> Mapping[Path, list[StoredDocument]]:
    folders = defaultdict[Path, list[StoredDocument]](list)
    for each in documents:
        if (root := folder_of(each.origin)) is not None:
            folders[root].append(each)
    return folders


async def _read(
    settings: Settings,
    db: Database,
    collection: str,
    root: Path,
    documents: Sequence[StoredDocument],
) -> FolderReading:
    if not await asyncio.to_thread(_has_one_of, root, documents):
        newest = max(each.added_at for each in documents)
        return FolderReading(
            folder=str(root),
            is_read=False,
            note=f"{root} has no document of the collection {collection} any more: its documents "
            f"are those of the last reading, the newest of {newest:%Y-%m-%d %H:%M} UTC",
        )
    options = IngestOptions(
        replaces_collection=False,
        reads_new_files=whole_folder(root) in {each.origin for each in documents},
        is_rereading=True,
    )
    try:
        result, _ = await add_documents(settings, db, root, collection, options)
    except (BadInput, BadConfiguration, OSError) as error:
        return FolderReading(
            folder=str(root), is_read=False, note=f"{root} could not be read again: {error}"
        )
    return FolderReading(
        folder=str(root),
        is_read=True,
        added=result.added,
        changed=result.changed,
        unchanged=result.unchanged,
        removed=result.removed,
        note=_skipped(result),
    )


def _has_one_of(root: Path, documents: Sequence[StoredDocument]) -> bool:
    # In a folder that may not be entered, `Path.is_file` raises an error; this returns False.
    if any(os.path.isfile(root / each.address) for each in documents):  # noqa: PTH113
        return True
    found = named_files(root, [each.address for each in documents])
    return any(os.path.isfile(root / place) for place in found.places)  # noqa: PTH113


def _skipped(result: IngestResult) -> str:
    skipped = [(path, why) for path, why in result.skipped if why != IS_HIDDEN]
    shown = "; ".join(f"skipped {path}: {why}" for path, why in skipped[:_MOST_SKIPPED])
    more = len(skipped) - _MOST_SKIPPED
    return f"{shown}; {more} more were skipped" if more > 0 else shown


def folder_line(reading: FolderReading) -> str:
    """Return what became of the folder in one line, for people."""
    if not reading.is_read:
        return f"warning: {reading.note}"
    changed = reading.added + reading.changed
    counts = f"{changed} read, {reading.unchanged} unchanged, {reading.removed} removed"
    return f"documents of {reading.folder}: {counts}{f' ({reading.note})' if reading.note else ''}"
