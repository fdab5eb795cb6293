"""Tests that the folder of a collection is read again, and that one that is gone empties nothing."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from holdfast.corpus.folder_ingestion import IngestOptions, ingest_folder
from holdfast.corpus.folder_rereading import FolderReading, folder_line, read_folders_again
from holdfast.settings import Settings
from holdfast.storage.core.database import Database
from holdfast.storage.corpus.corpus_records import StoredDocument
from holdfast.storage.corpus.corpus_store import CorpusStore

ADDED = IngestOptions(replaces_collection=False)


@pytest.fixture
async def database(database_url: str) -> AsyncIterator[Database]:
    database = Database(database_url)
    yield database
    await database.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "papers"
    folder.mkdir()
    (folder / "a.md").write_text("# The lamp\n\nIt burned oil.\n")
    (folder / "b.md").write_text("# The lens\n\nIt came from Paris.\n")
    return folder


async def _read(database: Database, collection: str = "shared/c") -> tuple[FolderReading, ...]:
    return await read_folders_again(Settings(local_embeddings=False), database, collection)


async def _documents(database: Database) -> dict[str, StoredDocument]:
    stored = await CorpusStore(database).documents("shared/c")
    return {each.address: each for each in stored}


async def test_a_whole_folder_is_read_again_as_it_is_now(database: Database, folder: Path) -> None:
    project = replace(ADDED, metadata={"project": "lights"})
    await ingest_folder(database, folder, "shared/c", options=project)
    (folder / "a.md").write_text("# The lamp\n\nIt burned gas.\n")
    (folder / "b.md").unlink()
    (folder / "new.md").write_text("New.")
    (folder / ".hidden.md").write_text("Hidden.")

    (reading,) = await _read(database)

    assert folder_line(reading) == f"documents of {folder}: 2 read, 0 unchanged, 1 removed"
    stored = await _documents(database)
    assert stored.keys() == {"a.md", "new.md"}
    assert stored["a.md"].metadata["project"] == "lights"


async def test_of_documents_that_were_named_no_other_file_is_read(
    database: Database, folder: Path
) -> None:
    for name in ("a.md", "b.md"):
        await ingest_folder(database, folder / name, "shared/c", options=ADDED)
    (folder / "a.md").write_text("# The lamp\n\nIt burned gas.\n")
    (folder / "private.md").write_text("Nobody named this.")

    (reading,) = await _read(database)

    assert (reading.added, reading.changed, reading.unchanged) == (0, 1, 1)
    assert (await _documents(database)).keys() == {"a.md", "b.md"}


async def test_a_folder_that_is_gone_or_not_theirs_leaves_the_collection_as_it_is(
    database: Database, folder: Path
) -> None:
    await ingest_folder(database, folder, "shared/c")
    sent = replace(ADDED, origin="upload 1")
    await ingest_folder(database, folder, "shared/sent", options=sent)
    (of_owner,) = await _read(database.on_behalf_of("anna"))
    for name in ("a.md", "b.md"):
        (folder / name).unlink()
    (folder / "of another disk.md").write_text("Not of the collection.")

    (gone,) = await _read(database)

    assert (of_owner.is_read, of_owner.folder) == (False, "")
    assert not gone.is_read
    assert f"{folder} has no document of the collection shared/c any more" in folder_line(gone)
    assert (await _documents(database)).keys() == {"a.md", "b.md"}
    assert await _read(database, "shared/sent") == ()
