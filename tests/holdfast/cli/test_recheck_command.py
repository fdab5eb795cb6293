"""Tests for `recheck`, `source` and `trace` over a folder of documents."""

import json
import re
from pathlib import Path

import pytest
from docx import Document

from tests.support.services.command_shell import command_shell

pytestmark = pytest.mark.slow

FILM = "Kiss and Tell is a comedy film directed by Richard Wallace."


def _alter_quote(path: Path) -> None:
    """Change a word of the quote in the comments of a Word document."""
    document = Document(str(path))
    for comment in document.comments:
        for paragraph in comment.paragraphs:
            paragraph.text = paragraph.text.replace("comedy", "tragedy")
    document.save(str(path))


@pytest.mark.conformance("BEY-09", "BEY-07", "REC-05")
def test_a_document_that_changed_is_found_out() -> None:
    with command_shell() as here:
        docs = here.folder / "docs"
        docs.mkdir()
        (docs / "film.md").write_text(f"# Kiss and Tell\n\n{FILM}\n")
        words = (
            "run",
            "Who directed the film Kiss and Tell?",
            "--docs",
            "docs",
            "--json",
            "--model",
            "extractive",
            "--servers",
            "corpus",
        )
        ran = here.holdfast(*words)
        assert ran.code == 0, ran.err
        job_id = json.loads(here.holdfast("list", "--json").out)[0]["job_id"]
        cited = json.loads(here.holdfast("report", job_id, "--json").out)["citations"][0]

        traced = here.holdfast("trace", job_id, str(cited["mark"]))
        assert traced.code == 0, traced.err
        assert "fetched by   tool call" in traced.out
        assert re.search(r"activity T\d, run [\w-]+, event \d+ to \d+ \(completed\)", traced.out)
        shown = here.holdfast("source", str(cited["source_id"]))
        assert f"⟦{cited['quote']}⟧" in shown.out
        assert "corpus." in shown.out

        same = here.holdfast("recheck", job_id)
        assert same.code == 0, same.out + same.err
        here.holdfast("report", job_id, "--format", "docx", "--out", "report.docx")
        carried = here.holdfast("recheck", "report.docx")
        assert carried.code == 0, carried.out + carried.err
        _alter_quote(here.folder / "report.docx")
        altered = here.holdfast("recheck", "report.docx")
        assert altered.code == 4, altered.out + altered.err
        assert "the quote in report.docx is not the one of the report" in altered.out
        (docs / "film.md").write_text(f"# Kiss and Tell\n\n{FILM.replace('Richard', 'Robert')}\n")
        (docs / "added.md").write_text("# Added\n\nThis document is new.\n")
        drifted = here.holdfast("recheck", job_id)

        assert drifted.code == 4, drifted.out + drifted.err
        assert f"documents of {docs.resolve()}: 2 read, 0 unchanged, 0 removed" in drifted.out
        assert "changed" in drifted.out
        assert "now:      " in drifted.out
        assert "Robert Wallace" in drifted.out
        assert f"holdfast retract {job_id} {cited['evidence_id']}" in drifted.out
        (docs / "later.md").write_text("# Later\n\nThis document is new as well.\n")
        updated = here.holdfast("update", job_id, "--dry-run")
        assert "gone; documents new since the folder was last read: 1\n" in updated.out
        docs.rename(here.folder / "moved")
        unmounted = here.holdfast("update", job_id, "--dry-run")
        assert f"warning: {docs.resolve()} has no document of the collection" in unmounted.out
        assert "1 of 1 citations changed or are gone" in unmounted.out
        told = here.holdfast("report", job_id).out
        assert "Warning:" in told
        assert "changed when their source was read again" in told
