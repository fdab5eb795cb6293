"""Tests that files become a title and a text, or an error that names the file and the way out."""

import contextlib
import io

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pypdf import PdfReader, PdfWriter
from reportlab.pdfgen.canvas import Canvas  # type: ignore[import-untyped]  # ships no types

from holdfast.models.errors import BadInput
from holdfast.tools.documents.document_reader import (
    DOCUMENT_ENDINGS,
    MAX_DOCUMENT_BYTES,
    read_document,
)
from tests.support.services.processor_time import processor_s

_PAGE = """<html><head><title>Light &amp; shade</title><script>var x = 1</script></head><body>
<nav>Home</nav><main><h1>The light</h1><p>It was first lit in 1884, after two winters of work.</p>
<h2>Keepers</h2><p>Three men kept it, and their families lived on the island with them.</p>
<table><tr><th>Year</th><th>Keeper</th></tr><tr><td>1884</td><td>Sault</td></tr></table>
</main></body></html>"""


def _pdf(*pages: str, title: str = "") -> bytes:
    file = io.BytesIO()
    canvas = Canvas(file)
    if title:
        canvas.setTitle(title)
    for page in pages:
        canvas.drawString(72, 720, page)
        canvas.showPage()
    canvas.save()
    return file.getvalue()


def _encrypted(pdf: bytes, password: str, algorithm: str = "AES-256") -> bytes:
    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(pdf)))
    writer.encrypt(password, "the owner's", algorithm=algorithm)
    file = io.BytesIO()
    writer.write(file)
    return file.getvalue()


def test_markdown_is_kept_as_it_is_and_titled_by_its_first_heading() -> None:
    document = read_document("a/notes.md", b"Intro\r\n\r\n## The *lamp* ##\n- one\n")

    assert document.title == "The *lamp*"
    assert document.text == "Intro\n\n## The *lamp* ##\n- one\n"


def test_a_text_without_heading_is_titled_by_its_file() -> None:
    assert read_document("a/the log.TXT", b"At dusk.").title == "the log"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252", "latin-1"])
def test_text_is_read_in_the_usual_encodings(encoding: str) -> None:
    text = "Der Wärter zündete die Lampe um fünf Uhr an."

    assert read_document("a.txt", text.encode(encoding)).text == text


def test_a_page_is_read_in_the_encoding_that_it_declares() -> None:
    text = "Смотритель зажигал лампу каждый вечер и гасил её утром."
    page = f'<html><head><meta charset="windows-1251"></head><body><p>{text}</p></body></html>'

    assert text in read_document("a.html", page.encode("cp1251")).text


def test_a_page_becomes_markdown_without_scripts() -> None:
    document = read_document("a.html", _PAGE.encode())

    assert document.title == "Light & shade"
    assert "## Keepers" in document.text
    assert "| 1884 | Sault |" in document.text
    assert "var x" not in document.text


@pytest.mark.parametrize("page", ["<p>Short.</p>", "<html><body>Short.</body></html>", "Short."])
def test_a_page_too_short_for_extraction_is_read_all_the_same(page: str) -> None:
    assert read_document("a.htm", page.encode()).text.strip() == "Short."


def test_a_page_keeps_every_paragraph_its_lists_and_the_lines_of_its_code() -> None:
    page = """<title>Log</title><body><header><p>Kept by Sault.</p></header>
<ul><li>oil</li><li>wick<ul><li>spare</li></ul></li></ul><div>Loose<br>lines</div>
<table><tr><td><p>1884</p><p>1890</p></td><td>lit</td></tr></table>
<pre>lamp = 1
  wick = 2</pre><aside>Short.</aside><nav>Menu</nav><button>Send</button></body>"""

    assert read_document("a.html", page.encode()).text.split("\n\n") == [
        "Kept by Sault.",
        "- oil\n- wick\n  - spare",
        "Loose lines",
        "| 1884 1890 | lit |",
        "```\nlamp = 1\n  wick = 2\n```",
        "Short.",
    ]


def test_a_page_with_a_control_character_keeps_its_text() -> None:
    page = "<p>The lamp.&#1;</p><ul><li>oil</li></ul>&#1;<script>x</script>"

    assert read_document("a.html", page.encode()).text == "The lamp.\n\n- oil"


@pytest.mark.parametrize("piece", ["<div>", "<a ", "<!--", "<ul><li>", "<nav>", "<tr><td>x", "&"])
@pytest.mark.slow
def test_a_hostile_page_is_read_or_refused_in_bounded_time(piece: str) -> None:
    page = (piece * 200_000).encode()

    assert processor_s(lambda: read_document("a.html", page), BadInput) < 10


def test_a_very_long_page_is_read() -> None:
    page = "<title>Log</title>" + "<p>The lamp was lit.</p>" * 100_000

    document = read_document("a.html", page.encode())

    assert document.title == "Log"
    assert document.text.count("The lamp was lit.") == 100_000


def test_a_pdf_gives_its_title_and_its_pages() -> None:
    document = read_document("a.pdf", _pdf("Page one.", "Page two.", title="The annual report"))

    assert document.title == "The annual report"
    assert [page.strip() for page in document.text.split("\n\n")] == ["Page one.", "Page two."]


@pytest.mark.parametrize("title", ["", "untitled", "(anonymous)", "Microsoft Word - draft.doc"])
def test_a_pdf_with_a_title_that_a_program_wrote_is_titled_by_its_file(title: str) -> None:
    assert read_document("notes/osprey.pdf", _pdf("Text.", title=title)).title == "osprey"


@pytest.mark.parametrize("algorithm", ["RC4-128", "AES-256"])
def test_a_pdf_that_only_forbids_changes_is_read(algorithm: str) -> None:
    data = _encrypted(_pdf("Open to all."), "", algorithm)

    assert "Open to all." in read_document("a.pdf", data).text


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("a.pdf", _encrypted(_pdf("Secret."), "secret"), "encrypted: save it without a password"),
        ("a.pdf", b"%PDF-1.7 and then nothing", "broken PDF: open it and save it again"),
        ("a.pdf", b"just text", "is not a PDF$"),
        ("a.pdf", _pdf("Cut off.")[:300], "broken PDF"),
        ("a.pdf", _pdf(""), "holds no text"),
        ("a.txt", b"PK\x03\x04\x00\x00binary", "not text"),
        ("a.txt", bytes(range(1, 256)) * 10, "not text"),
        ("a.txt", "Смотритель".encode("cp1251"), "save it as UTF-8"),
        ("a.txt", b"\xff\xfe\x00", "not text"),
        ("a.md", b"", "is empty"),
        ("a.md", b" \n\t\n", "holds no text"),
        ("a.html", b"<html><script>1</script></html>", "holds no text"),
        ("a.doc", b"text", r"unsupported type .doc \(read: .md, .txt, .html, .htm, .pdf, .docx, "),
        ("README", b"text", r"has no file type \(read: "),
        ("a.txt", b"x" * (MAX_DOCUMENT_BYTES + 1), "larger than 50 MB: split it"),
    ],
    ids=range(15),
)
def test_what_cannot_be_read_says_why_and_what_to_do(name: str, data: bytes, reason: str) -> None:
    with pytest.raises(BadInput, match=reason) as refused:
        read_document(name, data)

    assert repr(name) in str(refused.value)


_PARTS = st.sampled_from(
    [
        _PAGE.encode(),
        _pdf("Text.", title="T"),
        b"\xff\xfe",
        b"\xfe\xff",
        b"<",
        b"</p>",
        b"&#0;",
        b"<!--",
        b"<?xml version='1.0' encoding='x'?>",
        b"charset=gb",
        b"&#xD800;",
        b"<svg><a>",
    ]
)


@pytest.mark.parametrize("ending", DOCUMENT_ENDINGS)
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
@pytest.mark.slow
def test_any_bytes_are_read_or_refused(ending: str, data: st.DataObject) -> None:
    parts = data.draw(st.lists(st.one_of(st.binary(max_size=300), _PARTS), max_size=4))

    try:
        document = read_document(f"a{ending}", b"".join(parts))
    except BadInput:
        return

    assert document.text.strip()
    assert document.title
    document.text.encode("utf-8")
    assert not set("\0\r") & set(document.text + document.title)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(place=st.integers(0, 2000), noise=st.binary(min_size=1, max_size=40))
def test_a_damaged_pdf_is_read_or_refused(place: int, noise: bytes) -> None:
    pdf = _pdf("Text that may be lost.", "More.", title="T")

    with contextlib.suppress(BadInput):
        read_document("a.pdf", pdf[:place] + noise + pdf[place + len(noise) :])
