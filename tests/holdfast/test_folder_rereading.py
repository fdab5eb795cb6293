"""Tests that the folder of a collection is read again, and that one that is gone empties nothing."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from holdfast.corpus.folder_files import FoundFiles, folder_and_file, folder_of, whole_folder
from holdfast.corpus.folder_ingestion import IngestOptions, ingest_folder
from holdfast.corpus.folder_rereading import FolderReading, folder_line, read_folders_again
from holdfast.settings import Settings
from holdfast.storage.core.database import Database
from holdfast.storage.corpus.corpus_records import StoredDocument
from holdfast.storage.corpus.corpus_store import CorpusStore

pytestmark = pytest.mark.slow

ADDED = IngestOptions(replaces_collection=False)


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


def test_no_file_that_is_named_alone_has_the_origin_of_a_whole_folder(tmp_path: Path) -> None:
    for root in (Path("/"), Path("/papers")):
        assert folder_of(whole_folder(root)) == folder_of(str(root)) == root
        assert whole_folder(root) != str(root)
    assert folder_and_file(Path("//")) == (Path("/"), "")
    assert folder_and_file(Path(f"/{tmp_path}")) == (tmp_path, "")
    assert folder_of("upload 1") is None


async def test_folders_and_uploads_with_the_same_address_leave_each_others_documents(
    database: Database, folder: Path, tmp_path: Path
) -> None:
    other, sent = tmp_path / "other", tmp_path / "sent"
    for place in (folder, other, sent):
        place.mkdir(exist_ok=True)
        (place / f"only {place.name}.md").write_text(f"Of {place.name} only.")
    (other / "a.md").write_text("Another text.")
    (sent / "b.md").write_bytes((folder / "b.md").read_bytes())
    upload = replace(ADDED, origin="upload 1")
    await ingest_folder(database, sent, "shared/c", options=upload)
    for place in (folder, other):
        await ingest_folder(database, place, "shared/c", options=ADDED)
    before = await _documents(database)
    (folder / "b.md").write_text("Changed, and not what was sent.")

    readings = await _read(database)

    assert await _documents(database) == before
    assert before["b.md"].origin == "upload 1"
    assert {each.folder: (each.changed, each.removed) for each in readings} == {
        str(folder): (0, 0),
        str(other): (0, 0),
    }
    assert "skipped b.md: has the name of a document from elsewhere" in folder_line(readings[-1])


async def test_what_cannot_be_read_for_now_stays(
    database: Database, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("disk", "share"):
        (folder / name).mkdir()
        (folder / name / "c.md").write_text(f"On the {name}.")
    await ingest_folder(database, folder, "shared/c")
    before = await _documents(database)
    (folder / "a.md").write_bytes(b"\0\0\0")

    (reading,) = await _read(database)
    assert (reading.unchanged, reading.removed) == (3, 0)
    assert reading.note == "skipped a.md: is not text: if it is, save it as UTF-8"
    # The disk is not mounted any more, and the share may not be entered.
    (folder / "disk" / "c.md").unlink()
    _refuse_listing(monkeypatch, folder / "share")
    (folder / "b.md").unlink()
    (folder / "a.md").write_text("Readable.")
    (reading,) = await _read(database)

    assert (reading.changed, reading.removed) == (1, 0)
    assert "skipped disk: has no file any more; no document is removed" in reading.note
    assert "skipped share: Permission denied; no document is removed" in reading.note
    assert (await _documents(database)).keys() == before.keys()


def _refuse_listing(monkeypatch: pytest.MonkeyPatch, refused: Path) -> None:
    """Refuse a folder as for a user who may not enter it: tests may run as root."""
    scandir = os.scandir

    def refuse(place: str) -> object:
        if Path(place) == refused:
            raise PermissionError(13, "Permission denied", str(refused))
        return scandir(place)

    monkeypatch.setattr("os.scandir", refuse)


async def test_a_folder_that_may_not_be_entered_is_a_note(
    database: Database, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await ingest_folder(database, folder, "shared/c")

    def refuse(_: Path) -> FoundFiles:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("holdfast.corpus.folder_ingestion.visible_files", refuse)

    (reading,) = await _read(database)

    assert not reading.is_read
    assert "Permission denied" in reading.note
    assert (await _documents(database)).keys() == {"a.md", "b.md"}


async def test_a_document_that_was_named_is_found_by_the_name_that_it_is_cited_by(
    database: Database, folder: Path
) -> None:
    hidden_sign = folder / "lamp\u200b 1.md"
    hidden_sign.write_text("Oil.")
    await ingest_folder(database, hidden_sign, "shared/c", options=ADDED)
    hidden_sign.write_text("Gas.")

    (alone,) = await _read(database)
    await ingest_folder(database, folder / "a.md", "shared/c", options=ADDED)
    hidden_sign.write_text("Electricity.")
    (among_others,) = await _read(database)

    for reading in (alone, among_others):
        assert (reading.is_read, reading.changed, reading.removed) == (True, 1, 0)
    assert (await _documents(database)).keys() == {"lamp 1.md", "a.md"}
