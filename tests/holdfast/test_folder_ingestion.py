"""Tests for ingesting a folder as a collection: only changed files are read again, and skipped
files are named."""

import asyncio
import os
import sys
import time
from pathlib import Path

import openpyxl
import pytest
from sqlalchemy import text

from holdfast.corpus.corpus_update import ingestion_lines
from holdfast.corpus.folder_ingestion import (
    IngestOptions,
    IngestResult,
    default_collection_name,
    ingest_folder,
)
from holdfast.models.errors import BadInput
from holdfast.storage.core.database import Database
from holdfast.storage.corpus.corpus_store import CorpusStore
from holdfast.tools.documents.document_reader import DOCUMENT_ENDINGS, MAX_DOCUMENT_BYTES
from holdfast.tools.mcp.answers.answer_passages import AnswerSource
from holdfast.tools.optional_parts import OptionalPart
from tests.support.tools.missing_parts import hide_parts

pytestmark = pytest.mark.slow


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "My Papers"
    (folder / "deep").mkdir(parents=True)
    (folder / "a.md").write_text("# The lamp\n\nIt burned oil.\n")
    (folder / "b.txt").write_text("The lens came from Paris.")
    (folder / "deep" / "c.html").write_text("<title>Keepers</title><p>Three men.</p>")
    return folder


def _counts(done: IngestResult) -> tuple[int, int, int, int]:
    return done.added, done.changed, done.unchanged, done.removed


async def _addresses(database: Database, collection: str) -> list[str]:
    return [document.address for document in await CorpusStore(database).documents(collection)]


async def test_a_folder_can_be_searched_once_it_is_read(database: Database, folder: Path) -> None:
    said: list[str] = []

    done = await ingest_folder(database, folder, say=said.append)

    assert _counts(done) == (3, 0, 0, 0)
    assert said == [f"read {address}: 1 passages" for address in ("a.md", "b.txt", "deep/c.html")]
    (hit,) = await CorpusStore(database).search(done.collection, "What did the lamp burn?")
    text = (folder / "a.md").read_text()
    assert hit.passage.title == "The lamp"
    assert text[hit.passage.start : hit.passage.end] == hit.passage.text == "It burned oil."


async def test_only_what_changed_is_read_again(database: Database, folder: Path) -> None:
    await ingest_folder(database, folder, "c")
    (folder / "a.md").write_text("# The lamp\n\nIt burned gas.\n")
    (folder / "b.txt").unlink()
    (folder / "d.md").write_text("New.")
    os.utime(folder / "deep" / "c.html", (0, 0))

    assert _counts(await ingest_folder(database, folder, "c")) == (1, 1, 1, 1)
    assert _counts(await ingest_folder(database, folder, "c")) == (0, 0, 3, 0)
    assert await _addresses(database, "c") == ["a.md", "d.md", "deep/c.html"]
    (hit,) = await CorpusStore(database).search("c", "burned oil gas")
    assert hit.passage.text == "It burned gas."


async def test_what_cannot_be_read_is_skipped_with_its_reason(
    database: Database, folder: Path
) -> None:
    (folder / "empty.md").touch()
    (folder / "broken.pdf").write_bytes(b"%PDF-1.4")
    (folder / "letter.doc").write_bytes(b"PK")
    with (folder / "huge.txt").open("wb") as file:
        file.truncate(MAX_DOCUMENT_BYTES + 1)
    os.mkfifo(folder / "pipe.txt")
    (folder / ".hidden.md").write_text("Not for reading.")
    (folder / ".git").mkdir()
    (folder / ".git" / "x.md").write_text("Not for reading.")

    done = await ingest_folder(database, folder, "c")

    assert _counts(done) == (3, 0, 0, 0)
    assert done.skipped == (
        ("broken.pdf", "is a broken PDF: open it and save it again"),
        ("empty.md", "is empty"),
        ("huge.txt", "is larger than 50 MB: split it"),
        ("letter.doc", f"has the unsupported type .doc (read: {', '.join(DOCUMENT_ENDINGS)})"),
        ("pipe.txt", "is not a file"),
        (".git", "is hidden"),
        (".hidden.md", "is hidden"),
    )


async def test_links_are_followed_only_to_files_within_the_folder(
    database: Database, folder: Path
) -> None:
    outside = folder.parent / "outside"
    outside.mkdir()
    (outside / "secret.md").write_text("Secret.")
    (folder / "within.md").symlink_to(folder / "a.md")
    (folder / "out.md").symlink_to(outside / "secret.md")
    (folder / "dangling.md").symlink_to(folder / "nowhere.md")
    (folder / "loop").symlink_to(folder)
    (folder / "links.md").symlink_to(outside)

    done = await ingest_folder(database, folder, "c")

    assert await _addresses(database, "c") == ["a.md", "b.txt", "deep/c.html", "within.md"]
    assert [path for path, _ in done.skipped] == ["dangling.md", "links.md", "loop", "out.md"]
    assert (
        dict(done.skipped)["out.md"]
        == "is a link to a file outside the folder: copy the file into the folder"
    )
    assert dict(done.skipped)["dangling.md"] == "is a broken link"
    assert dict(done.skipped)["loop"] == "is a link to a folder; it is not followed"


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse such names")
async def test_a_name_that_is_not_utf8_is_skipped(database: Database, folder: Path) -> None:
    (folder / os.fsdecode(b"\xff.md")).write_text("Text.")
    (folder / "\u202f名前 'é\n.md").write_text("The whale.")

    done = await ingest_folder(database, folder, "c")

    assert done.skipped == (("\\udcff.md", "has a name that is not UTF-8: rename it"),)
    (hit,) = await CorpusStore(database).search("c", "whale")
    assert hit.passage.address == "名前 'é .md"


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse such names")
async def test_a_document_has_the_address_that_it_is_cited_by(
    database: Database, folder: Path
) -> None:
    (folder / "red\x1b[31m.md").write_text("The whale.")
    (folder / "red\x07[31m.md").write_text("The seal.")

    done = await ingest_folder(database, folder, "c")
    again = await ingest_folder(database, folder, "c")

    address = AnswerSource("corpus.search").address("red\x1b[31m.md")
    assert address in await _addresses(database, "c")
    assert done.skipped == (
        ("red\x1b[31m.md", "has a name that looks like another file's: rename it"),
    )
    assert _counts(again) == (0, 0, 4, 0)


async def test_a_file_that_became_unreadable_leaves_the_collection(
    database: Database, folder: Path
) -> None:
    await ingest_folder(database, folder, "c")
    (folder / "b.txt").write_bytes(b"\0\0\0")

    done = await ingest_folder(database, folder, "c")

    assert _counts(done) == (0, 0, 2, 1)
    assert done.skipped == (("b.txt", "is not text: if it is, save it as UTF-8"),)
    assert await _addresses(database, "c") == ["a.md", "deep/c.html"]


async def test_a_file_that_needs_a_missing_part_is_skipped_with_the_command(
    database: Database, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "letter.docx").write_bytes(b"PK")
    hide_parts(monkeypatch, OptionalPart.DOCUMENTS)

    done = await ingest_folder(database, folder, "c")

    _, skipped = ingestion_lines(done, None)
    assert _counts(done) == (3, 0, 0, 0)
    assert skipped == (
        "  skipped letter.docx: reading .docx files needs the part 'documents': "
        "pip install 'holdfast[documents]'"
    )


@pytest.mark.long
async def test_an_unchanged_document_stays_when_its_part_is_gone(
    database: Database, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    book = openpyxl.Workbook()
    book.active.append(["Name", "Lit"])
    book.save(folder / "lights.xlsx")
    await ingest_folder(database, folder, "c")
    hide_parts(monkeypatch, OptionalPart.DOCUMENTS)

    done = await ingest_folder(database, folder, "c")

    assert _counts(done) == (0, 0, 4, 0)
    assert done.skipped == ()


async def test_a_folder_that_cannot_serve_is_refused(database: Database, tmp_path: Path) -> None:
    (tmp_path / "file.md").write_text("Text.")
    (tmp_path / "empty").mkdir()
    (tmp_path / "binary").mkdir()
    (tmp_path / "binary" / "a.bin").write_bytes(b"\0")

    for name, reason in {
        "missing": "there is no folder or file '.*missing'",
        "empty": r"'.*empty' has no document that can be read \(.md, .txt, .html, .*, .csv\)$",
        "binary": "'.*binary' has no document .*; a.bin: has the unsupported type .bin",
    }.items():
        with pytest.raises(BadInput, match=reason):
            await ingest_folder(database, tmp_path / name, "c")


async def test_a_folder_that_lost_its_files_leaves_the_collection_as_it_was(
    database: Database, folder: Path
) -> None:
    await ingest_folder(database, folder, "c")
    for address in ("a.md", "b.txt", "deep/c.html"):
        (folder / address).unlink()

    with pytest.raises(BadInput):
        await ingest_folder(database, folder, "c")

    assert len(await _addresses(database, "c")) == 3


async def test_two_readings_at_once_read_each_document_once(
    database: Database, folder: Path
) -> None:
    done = await asyncio.gather(*(ingest_folder(database, folder, "c") for _ in range(4)))

    assert sorted(map(_counts, done)) == [(0, 0, 3, 0)] * 3 + [(3, 0, 0, 0)]
    assert len(await CorpusStore(database).search("c", "lens")) == 1


@pytest.mark.long
async def test_a_reading_that_was_cut_off_is_continued(database: Database, folder: Path) -> None:
    class CutOff(Exception):
        pass

    def cut_off(line: str) -> None:
        raise CutOff(line)

    # So many passages are stored before the next file is read.
    (folder / "a.md").write_text("\n\n".join(f"# Heading {n}\n\nText." for n in range(1000)))

    with pytest.raises(CutOff, match=r"read a\.md"):
        await ingest_folder(database, folder, "c", cut_off)

    assert _counts(await ingest_folder(database, folder, "c")) == (2, 0, 1, 0)


async def test_documents_say_where_they_are_from_and_what_they_are_told(
    database: Database, folder: Path
) -> None:
    os.utime(folder / "b.txt", (0, 0))
    (folder / "a.md").write_text("---\ndate: 2021-05-04\nauthor: Sault\n---\n# The lamp")
    added = IngestOptions(metadata={"project": "lights"}, replaces_collection=False)

    await ingest_folder(database, folder, "c")
    assert _counts(await ingest_folder(database, folder, "c", options=added)) == (0, 0, 3, 0)

    stored = {each.address: each for each in await CorpusStore(database).documents("c")}
    assert stored["b.txt"].metadata == {
        "kind": "txt",
        "modified": "1970-01-01",
        "date": "1970-01-01",
        "project": "lights",
    }
    about = dict(stored["a.md"].metadata)
    about.pop("modified")
    assert about == {"kind": "md", "date": "2021-05-04", "author": "Sault", "project": "lights"}
    assert {each.origin for each in stored.values()} == {f"{folder}/"}


async def test_folders_and_files_are_added_next_to_each_other(
    database: Database, folder: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "x.csv").write_text("Name;Lit\nSkerrin;1884")
    (other / "y.txt").write_text("Not added yet.")
    keeping = IngestOptions(replaces_collection=False)

    await ingest_folder(database, folder, "c", options=keeping)
    assert _counts(await ingest_folder(database, other / "x.csv", "c", options=keeping)) == (
        1,
        0,
        0,
        0,
    )
    assert _counts(await ingest_folder(database, other, "c", options=keeping)) == (1, 0, 1, 0)
    (folder / "a.md").unlink()
    assert _counts(await ingest_folder(database, folder, "c", options=keeping)) == (0, 0, 2, 1)

    assert await _addresses(database, "c") == ["b.txt", "deep/c.html", "x.csv", "y.txt"]
    assert (await ingest_folder(database, other / "x.csv")).collection == default_collection_name(
        other
    )


@pytest.mark.long
async def test_documents_from_before_there_was_metadata_are_read_again_once(
    database: Database, folder: Path
) -> None:
    await ingest_folder(database, folder, "c")
    async with database.writing() as connection:
        await connection.execute(text("update documents set metadata = '{}'"))

    assert _counts(await ingest_folder(database, folder, "c")) == (0, 3, 0, 0)
    assert _counts(await ingest_folder(database, folder, "c")) == (0, 0, 3, 0)


async def test_forty_documents_are_read_within_seconds(database: Database) -> None:
    demo = Path(__file__).parents[2] / "holdfast" / "demo" / "collection"
    start = time.perf_counter()

    done = await ingest_folder(database, demo, "demo")

    assert done.added >= 30
    assert time.perf_counter() - start < 5  # 0.5 s on a quiet machine; several may share this one


def test_a_folder_has_one_name_however_it_is_written(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "link").symlink_to(folder)
    monkeypatch.chdir(folder)

    name = default_collection_name(folder)

    assert name.startswith("my-papers-")
    assert {default_collection_name(Path(way)) for way in (".", "deep/..", "../link", folder)} == {
        name
    }
    assert default_collection_name(folder / "deep") != name
    assert default_collection_name(Path("/")).startswith("documents-")
