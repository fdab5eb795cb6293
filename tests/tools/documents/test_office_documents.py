"""Tests that Word, PowerPoint, Excel and CSV files become text and that hostile files are refused
in bounded time."""

import contextlib
import io
import zipfile
from datetime import UTC, date, datetime
from functools import cache
from typing import Any

import docx
import openpyxl
import pptx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pptx.util import Inches

from holdfast.models.errors import BadInput
from holdfast.tools.documents.document_reader import read_document
from holdfast.tools.documents.office.office_package import MAX_ENTRIES, MAX_PART
from holdfast.tools.documents.passage_splitter import split_passages
from holdfast.tools.documents.table_text import MAX_COLUMNS, MAX_ROWS

_BOMB = b"""<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>
<x>&b;&b;</x>"""


@cache
def _docx() -> bytes:
    document = docx.Document()
    document.core_properties.title = "Lights of the coast"
    document.core_properties.author = "Ona Brandreth"
    document.core_properties.modified = datetime(2021, 5, 4, tzinfo=UTC)
    document.add_heading("Skerrin", 2)
    document.add_paragraph("First lit in 1884.")
    document.add_paragraph("Three keepers", style="List Bullet")
    table = document.add_table(2, 2)
    for cell, text in zip(table._cells, ("Keeper", "From", "Sault", "1884"), strict=True):
        cell.text = text
    document.add_paragraph("After the table.")
    return _saved(document)


@cache
def _pptx() -> bytes:
    show = pptx.Presentation()
    for title, text in (("The lamp", "It burned oil."), ("", ""), ("Keepers", "Sault\nMorley")):
        slide = show.slides.add_slide(show.slide_layouts[1])
        slide.shapes.title.text = title
        slide.placeholders[1].text = text
    slide = show.slides[2]
    grid = slide.shapes.add_table(2, 2, Inches(1), Inches(1), Inches(4), Inches(1)).table
    for n, text in enumerate(("Year", "Light", "1884", "Skerrin")):
        grid.cell(n // 2, n % 2).text = text
    slide.notes_slide.notes_text_frame.text = "Say who Sault was."
    return _saved(show)


@cache
def _xlsx() -> bytes:
    book = openpyxl.Workbook()
    book.active.title = "Lights"
    for row in (
        ["Name", "Lit", "Height", "On"],
        ["Skerrin", date(1884, 3, 1), 31.5, True],
        [],
        ["Gannet", None, 12.0, False],
    ):
        book.active.append(row)
    book.create_sheet("Numbers").append([1, 2])
    return _saved(book)


def _saved(document: Any) -> bytes:
    file = io.BytesIO()
    document.save(file)
    return file.getvalue()


def _with(data: bytes, part: str, content: bytes | None = None, **more: bytes) -> bytes:
    """The package with one part in place of another, or with more parts."""
    out = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(data)) as old,
        zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new,
    ):
        for name in old.namelist():
            if name != part:
                new.writestr(name, old.read(name))
        if content is not None:
            new.writestr(part, content)
        for name, extra in more.items():
            new.writestr(name, extra)
    return out.getvalue()


def test_a_word_file_becomes_markdown_with_its_properties() -> None:
    document = read_document("a.docx", _docx())

    assert document.title == "Lights of the coast"
    assert document.text == (
        "## Skerrin\n\nFirst lit in 1884.\n\n- Three keepers\n\n"
        "Keeper: Sault; From: 1884\n\nAfter the table."
    )
    assert document.metadata == {"author": "Ona Brandreth", "date": "2021-05-04", "kind": "docx"}


def test_a_slide_is_a_heading_with_its_number() -> None:
    document = read_document("talk.pptx", _pptx())

    assert document.title == "talk"
    assert document.text == (
        "## Slide 1: The lamp\n\nIt burned oil.\n\n## Slide 3: Keepers\n\nSault\nMorley\n\n"
        "Year: 1884; Light: Skerrin\n\nNotes: Say who Sault was."
    )
    headings = [passage.heading for passage in split_passages(document.text)]
    assert headings == ["Slide 1: The lamp", "Slide 3: Keepers"]


def test_each_row_of_a_sheet_names_its_columns() -> None:
    document = read_document("lights.xlsx", _xlsx())

    assert document.text == (
        "## Sheet: Lights\n\nName: Skerrin; Lit: 1884-03-01; Height: 31.5; On: True\n\n"
        "Name: Gannet; Height: 12; On: False\n\n## Sheet: Numbers\n\nA: 1; B: 2"
    )


def test_every_passage_of_a_long_table_can_be_understood_alone() -> None:
    rows = "\n".join(f"Light {n};{1800 + n};stone tower of {n} steps" for n in range(200))

    document = read_document("a.csv", f"Name;Lit;What\n{rows}".encode("cp1252"))
    passages = [document.text[start:end] for _, start, end in split_passages(document.text)]

    assert len(passages) > 10
    for passage in passages:
        assert passage.startswith("Name: Light ")
        assert all(": " in line for line in passage.splitlines() if line)


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "cp1252"])
def test_a_table_is_read_whatever_separates_it_and_encodes_it(
    separator: str, encoding: str
) -> None:
    lines = (("Wärter", "Ort"), ("Müller", '"Kap; Süd, West"'), ("Sault", "Skerrin"))
    data = "\r\n".join(separator.join(line) for line in lines).encode(encoding)

    text = read_document("a.csv", data).text

    assert text == "Wärter: Müller; Ort: Kap; Süd, West\n\nWärter: Sault; Ort: Skerrin"


def test_front_matter_is_metadata_and_no_text() -> None:
    text = (
        "---\ntitle: The log\ntags: [oil, lens]\nDate: 2021-05-04T10:00\nno: no\nx: {a: 1}\n---\n"
    )

    document = read_document("a.md", f"{text}\n# Heading\n\nThe lamp.".encode())

    assert (document.title, document.text) == ("The log", "# Heading\n\nThe lamp.")
    assert document.metadata == {
        "tags": ["oil", "lens"],
        "date": "2021-05-04",
        "no": "no",
        "kind": "md",
    }


@pytest.mark.parametrize("front", ["---\n- a\n---\n", "---\na: *b\n---\n", "---\nno end: 1\n"])
def test_what_is_no_front_matter_stays_text(front: str) -> None:
    assert read_document("a.md", f"{front}Text.".encode()).text == f"{front}Text."


def test_macros_and_pictures_are_never_opened() -> None:
    data = _with(_docx(), "", **{"word/vbaProject.bin": b"evil" * 1000, "word/x.docx": _docx()})

    assert "First lit in 1884." in read_document("a.docx", data).text


def _sheet(cells: bytes) -> bytes:
    space = b"http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    sheet = b'<worksheet xmlns="%s"><sheetData>%s</sheetData></worksheet>' % (space, cells)
    return _with(_xlsx(), "xl/worksheets/sheet1.xml", sheet)


def _spanning(columns: int) -> bytes:
    """A Word file whose first cell claims to span so many columns."""
    with zipfile.ZipFile(io.BytesIO(_docx())) as package:
        part = package.read("word/document.xml")
    span = b'<w:tcPr><w:gridSpan w:val="%d"/>' % columns
    return _with(_docx(), "word/document.xml", part.replace(b"<w:tcPr>", span, 1))


def test_a_cell_that_claims_a_billion_columns_costs_one() -> None:
    assert "Sault" in read_document("a.docx", _spanning(10**9)).text


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("a.docx", _with(_docx(), "word/document.xml", b"<x>" + b" " * (MAX_PART + 9)), "unpacks"),
        ("a.docx", _with(_docx(), "word/document.xml", _BOMB), "declares entities"),
        ("a.docx", _with(_docx(), "x.xml", _BOMB.decode().encode("utf-16")), "declares entities"),
        ("a.xlsx", _with(_xlsx(), "xl/sharedStrings.xml", _BOMB), "declares entities"),
        ("a.docx", _with(_docx(), "", **{f"{n}": b"" for n in range(MAX_ENTRIES)}), "more than"),
        ("a.pptx", _docx(), "of another kind"),
        ("a.docx", _with(_docx(), "word/document.xml"), "damaged"),
        ("a.docx", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "locked with a password"),
        ("a.xlsx", _sheet(b'<row r="1000000000"><c r="A1000000000"><v>1</v></c></row>'), "rows"),
        ("a.xlsx", _sheet(b'<row r="1"><c r="ZZZ1"><v>1</v></c></row>'), None),
        ("a.csv", b"a\n" * (MAX_ROWS + 1), "more than 200,000 rows"),
        ("a.csv", b"a," * MAX_COLUMNS + b"b", "more than 512 columns"),
        ("a.csv", b'"' + b"x" * 200_000, "not a table"),
        ("a.csv", b",,\n,,", "holds no text"),
    ],
    ids=range(14),
)
@pytest.mark.slow
def test_hostile_files_are_refused_with_the_way_out(
    name: str, data: bytes, reason: str | None
) -> None:
    if reason is None:
        with contextlib.suppress(BadInput):  # which of both is the library's business
            read_document(name, data)
        return
    with pytest.raises(BadInput, match=reason) as refused:
        read_document(name, data)

    assert repr(name) in str(refused.value)


def _document_of(kind: str) -> bytes:
    return {"docx": _docx, "pptx": _pptx, "xlsx": _xlsx}[kind]()


@pytest.mark.parametrize("kind", ["docx", "pptx", "xlsx"])
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(part=st.integers(0, 100), place=st.floats(0, 1), noise=st.binary(max_size=30))
@pytest.mark.slow
def test_a_package_with_a_damaged_part_is_read_or_refused(
    kind: str, part: int, place: float, noise: bytes
) -> None:
    data = _document_of(kind)
    with zipfile.ZipFile(io.BytesIO(data)) as package:
        names = [name for name in package.namelist() if name.endswith((".xml", ".rels"))]
        name = names[part % len(names)]
        old = package.read(name)
    at = int(place * len(old))

    for new in (old[:at] + noise + old[at + len(noise) :], noise, old.replace(b"1", noise[:1])):
        with contextlib.suppress(BadInput):
            assert read_document(f"a.{kind}", _with(data, name, new)).text.strip()


@pytest.mark.parametrize("kind", ["docx", "pptx", "xlsx"])
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(place=st.floats(0, 1), noise=st.binary(max_size=30), cut=st.booleans())
@pytest.mark.slow
def test_a_damaged_package_is_read_or_refused(
    kind: str, place: float, noise: bytes, cut: bool
) -> None:
    data = _document_of(kind)
    at = int(place * len(data))

    with contextlib.suppress(BadInput):
        read_document(f"a.{kind}", data[:at] + noise + (b"" if cut else data[at + len(noise) :]))


@settings(max_examples=100, deadline=None)
@given(text=st.text(st.sampled_from("---\n:[]{}&*!|>'\"#a1 ~\t%@"), max_size=200))
def test_any_front_matter_is_read_or_refused(text: str) -> None:
    with contextlib.suppress(BadInput):
        read_document("a.md", f"---\n{text}\n---\nText.".encode())


@settings(max_examples=100, deadline=None)
@given(text=st.text(st.sampled_from("a1\"',;\t|\n\r\\ \0"), max_size=300))
def test_any_table_is_read_or_refused(text: str) -> None:
    with contextlib.suppress(BadInput):
        assert read_document("a.csv", text.encode()).text.strip()
