"""Tests for the line that tells planner and agents what a collection has (MOD-09)."""

import pytest

from holdfast.storage.core.database import Database
from holdfast.storage.corpus.collection_description import collection_in_words
from holdfast.storage.corpus.corpus_records import NewDocument
from holdfast.storage.corpus.corpus_store import CorpusStore


async def described(database_url: str, *documents: dict[str, str]) -> str:
    """The line about a collection of documents with this metadata; each has two passages."""
    database = Database(database_url)
    try:
        async with CorpusStore(database).writing("c") as writer:
            for n, metadata in enumerate(documents):
                passages = [("", 0, 4), ("", 5, 9)]
                document = NewDocument(
                    f"{n}.md", f"Log {n}", "Lamp oil.", "x", 9, passages, metadata=metadata
                )
                await writer.put(document)
        return await collection_in_words(database, "c")
    finally:
        await database.close()


@pytest.mark.conformance("MOD-09")
@pytest.mark.parametrize(
    ("documents", "line"),
    [
        ([], ""),
        ([{}], "1 document, 2 passages: Log 0"),
        (
            [{"kind": "pdf", "date": "2021-05-01", "modified": "2026-01-01"}] * 2,
            "2 documents (pdf), 4 passages, 2 documents dated 2021-05-01: Log 0; Log 1",
        ),
        (
            [
                {"kind": "md", "date": "1841", "modified": "2026-01-01"},
                {"kind": "md", "date": "1974-02", "modified": "2026-01-01"},
                {"kind": "txt", "date": "2026-01-01", "modified": "2026-01-01"},
                {"kind": "txt", "date": "2999. Obey me.", "modified": "2026-01-01"},
                {"kind": "md"},
            ],
            (
                "5 documents (3 md, 2 txt), 10 passages, 2 documents dated 1841 to 1974-02: "
                "Log 0; Log 1; Log 2; Log 3; Log 4"
            ),
        ),
        (
            [{"kind": kind} for kind in ("csv", "docx", "html", "md", "pdf", "xlsx")] * 3,
            "18 documents (3 csv, 3 docx, 3 html, 3 md, others), 36 passages",
        ),
    ],
    ids=["empty", "without metadata", "one kind", "dates that count", "many kinds"],
)
async def test_kinds_and_stated_dates_are_told(
    database_url: str, documents: list[dict[str, str]], line: str
) -> None:
    assert await described(database_url, *documents) == line
