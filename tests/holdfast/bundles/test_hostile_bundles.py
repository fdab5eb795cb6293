"""Tests that altered, cut, oversized and hostile bundles are refused with the reason."""

import hashlib
import io
import json
import stat
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from pydantic import ValidationError

from holdfast.bundles import bundle_reader
from holdfast.bundles import bundle_rows as bundle_rows_module
from holdfast.bundles.bundle_check import check_bundle
from holdfast.bundles.bundle_rows import bundle_rows
from holdfast.models.calls.tool_figures import FigureForm, ReportFigure
from holdfast.models.errors import BadInput

JOB = {"id": "job-1", "question": "Who?", "status": "done"}
FILES = {"data/jobs.jsonl": json.dumps(JOB).encode(), "report.md": b"# Who?\n" * 100}
Files = dict[str, bytes]


def manifest(files: Files, **changes: object) -> bytes:
    content = {
        "release": "0.1.0",
        "schema_revision": "0017",
        "job_id": "job-1",
        "exported_at": "2026-11-27T00:00:00Z",
        "files": [
            {"path": name, "size_bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
            for name, data in files.items()
        ],
    }
    return json.dumps(content | changes).encode()


def archive(*parts: tuple[str | zipfile.ZipInfo, bytes]) -> io.BytesIO:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as made:
        for name, data in parts:
            made.writestr(name, data)
    return out


def bundle(files: Files = FILES, sealed: bytes | None = None) -> io.BytesIO:
    return archive(*files.items(), ("manifest.json", sealed or manifest(files)))


def link(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name)
    entry.external_attr = (stat.S_IFLNK | 0o777) << 16
    return entry


def named(name: str) -> Callable[[], io.BytesIO]:
    return lambda: bundle(FILES | {name: b"x"})


def cut() -> io.BytesIO:
    whole = bundle().getvalue()
    return io.BytesIO(whole[: len(whole) * 2 // 3])


def damaged() -> io.BytesIO:
    whole = bytearray(bundle().getvalue())
    whole[60] ^= 0xFF
    return io.BytesIO(bytes(whole))


def bomb() -> io.BytesIO:
    return bundle(FILES | {"data/events.jsonl": b" " * 30_000_000})


def lying_bomb() -> io.BytesIO:
    """A file that the archive and the manifest state as small, and that expands without end."""
    big = FILES | {"data/events.jsonl": b" " * 5_000_000}
    small = FILES | {"data/events.jsonl": b" " * 10}
    made = bundle(big, manifest(small)).getvalue()
    return io.BytesIO(made.replace((5_000_000).to_bytes(4, "little"), (10).to_bytes(4, "little")))


REFUSED: dict[str, tuple[Callable[[], io.BytesIO], str]] = {
    "no archive": (lambda: io.BytesIO(b"not a bundle"), "no whole bundle"),
    "cut off": (cut, "cut off"),
    "a flipped bit": (damaged, "cut off|was altered"),
    "no manifest": (lambda: archive(*FILES.items()), "has no manifest.json"),
    "an empty manifest": (lambda: bundle(sealed=b"{}"), "manifest of the bundle cannot be read"),
    "another format": (
        lambda: bundle(sealed=manifest(FILES, format="holdfast-bundle/9")),
        "format",
    ),
    "an altered file": (
        lambda: bundle(FILES | {"report.md": b"# Me!\n"}, manifest(FILES)),
        "'report.md' was altered",
    ),
    "a file of the same size": (
        lambda: bundle(FILES | {"report.md": b"# You?\n" * 100}, manifest(FILES)),
        "'report.md' was altered",
    ),
    "a source that nobody read": (
        lambda: bundle(
            FILES | {"data/sources.jsonl": b'{"id": 1, "text": "more", "sha256": "00"}'}
        ),
        "has not the hash that it was read with",
    ),
    "an added file": (
        lambda: bundle(FILES | {"more.txt": b"x"}, manifest(FILES)),
        "'more.txt' was added",
    ),
    "a missing file": (
        lambda: bundle({"data/jobs.jsonl": FILES["data/jobs.jsonl"]}, manifest(FILES)),
        "'report.md' is missing",
    ),
    "a parent folder": (named("../../etc/passwd"), "no bundle names a file so"),
    "a parent folder inside": (named("data/../../x"), "no bundle names a file so"),
    "an absolute name": (named("/etc/passwd"), "no bundle names a file so"),
    "a drive": (named("C:\\x"), "no bundle names a file so"),
    "a link": (
        lambda: archive(*FILES.items(), (link("x"), b"/etc/passwd"), ("manifest.json", b"{}")),
        "is a link",
    ),
    "a bomb": (bomb, "nothing of a job expands so"),
    "a lying bomb": (lying_bomb, "cut off|was altered"),
    "another job": (
        lambda: bundle(sealed=manifest(FILES, job_id="job-2")),
        "not contain the job",
    ),
    "no JSON": (lambda: bundle(FILES | {"data/jobs.jsonl": b"[" * 100_000}), "is no JSON"),
}


def test_a_bundle_in_order_is_accepted() -> None:
    assert check_bundle(bundle()).files == len(FILES)


@pytest.mark.conformance("WAVE-09")
@pytest.mark.parametrize("kind", REFUSED)
def test_a_bundle_is_refused_with_the_reason(kind: str) -> None:
    make, reason = REFUSED[kind]

    with pytest.raises(BadInput, match=reason):
        check_bundle(make())


def test_a_bundle_that_is_not_there_is_named(tmp_path: Path) -> None:
    nowhere = tmp_path / "job.crate.zip"

    with pytest.raises(BadInput, match=f"'{nowhere}': No such file .*`holdfast export JOB`"):
        check_bundle(nowhere)


def test_two_files_of_one_name_are_refused() -> None:
    with pytest.warns(UserWarning, match="Duplicate name"):
        made = archive(*FILES.items(), ("report.md", b"x"), ("manifest.json", manifest(FILES)))

    with pytest.raises(BadInput, match="two files of one name"):
        check_bundle(made)


def test_too_many_and_too_large_files_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bundle_reader, "MAX_FILES", 2)
    with pytest.raises(BadInput, match="at most 2 are read"):
        check_bundle(bundle())
    monkeypatch.setattr(bundle_reader, "MAX_FILES", 20)
    monkeypatch.setattr(bundle_reader, "MAX_TOTAL_BYTES", 500)
    with pytest.raises(BadInput, match="at most 500 are read"):
        check_bundle(bundle())


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ({"sha256": "/tmp/evil", "media_type": "image/svg+xml", "data": "eA=="}, "in its row"),
        ({"sha256": "/tmp/evil", "media_type": "image/svg+xml"}, "is no hash"),
        ({"sha256": "a" * 64, "media_type": "image/png"}, "not the hash"),
        ({"sha256": "a" * 64, "media_type": "text/html"}, "of no type"),
    ],
)
def test_a_figure_has_the_hash_that_names_its_file(row: dict[str, str], reason: str) -> None:
    line = json.dumps({"id": 1} | row).encode()
    made = bundle(FILES | {"data/figures.jsonl": line, f"figures/{'a' * 64}.png": b"x"})

    with bundle_reader.open_bundle(made) as opened, pytest.raises(BadInput, match=reason):
        list(bundle_rows(opened, "figures"))


def test_no_figure_of_a_report_names_a_file_elsewhere() -> None:
    with pytest.raises(ValidationError, match="sha256"):
        FigureForm(media_type="image/png", sha256="/tmp/evil")
    with pytest.raises(ValidationError, match="id"):
        ReportFigure(id="../../evil", title="t", task="T1", tool="charts.draw", forms=())


def test_rows_that_name_one_text_again_and_again_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = b"x" * 100
    name = hashlib.sha256(text).hexdigest()
    rows = [json.dumps({"id": at, "sha256": name}).encode() for at in range(4)]
    files = FILES | {f"sources/{name}.txt": text}
    monkeypatch.setattr(bundle_rows_module, "MAX_REPEATED_BYTES", 250)

    assert check_bundle(bundle(files | {"data/sources.jsonl": b"\n".join(rows[:3])})).sources == 3
    with pytest.raises(BadInput, match="again and again"):
        check_bundle(bundle(files | {"data/sources.jsonl": b"\n".join(rows)}))
