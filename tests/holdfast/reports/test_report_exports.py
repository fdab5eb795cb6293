"""Tests that other programs read what a report is exported to, in several scripts."""

import hashlib
import io
import json
import re
import struct
import zipfile
import zlib
from datetime import UTC, datetime
from pathlib import Path

import bibtexparser
import pytest
import rispy
from docx import Document
from pypdf import PdfReader

from holdfast.models.calls.tool_figures import (
    FigureForm,
    ReportFigure,
    StoredFigure,
    new_figure,
)
from holdfast.models.errors import BadInput
from holdfast.models.evidence.evidence import Citation, Report, ReportConclusion, ReportStatement
from holdfast.reports.exports.report_files import report_file
from holdfast.reports.exports.word_document import read_quoted_document
from holdfast.reports.report_format import ReportFormat

QUOTES = {
    1: (
        "The tower was finished in 1862.",
        "Lights & {Shoals} of the Isles",
        "https://example.org/a_b",
    ),
    2: ("Маяк был построен в 1862 году.", "Маяки Севера", "маяки.md"),
    3: ("灯塔建于1862年。", "北方的灯塔", "灯塔.md"),
}


def report() -> Report:
    return Report(
        question="When was the light built? Когда построен маяк? 灯塔是什么时候建造的？",
        answer="1862",
        findings=tuple(
            ReportStatement(text=quote, marks=(mark,)) for mark, (quote, _, _) in QUOTES.items()
        ),
        conclusions=(ReportConclusion(text="1862", marks=(1, 2), limits="two books"),),
        gaps=("The architect’s name was not found: $x_1$ *#[ %%not^1%%",),
        citations=tuple(
            Citation(
                mark=mark,
                evidence_id=mark + 10,
                source_id=mark,
                address=address,
                title=title,
                heading="",
                date="2024-03-05" if mark == 1 else "",
                start=0,
                end=len(quote),
                quote=quote,
                sha256=hashlib.sha256(quote.encode()).hexdigest(),
                fetched_at=datetime(2026, 11, 27, tzinfo=UTC),
            )
            for mark, (quote, title, address) in QUOTES.items()
        ),
        model="test-model",
        job_id="job-1",
        delivered_at=datetime(2026, 11, 27, tzinfo=UTC),
    )


def exported(form: ReportFormat) -> bytes:
    return report_file(report(), {}, form)


@pytest.mark.conformance("REC-05")
def test_a_word_document_has_each_quote_as_a_comment_on_its_sentence() -> None:
    document = Document(io.BytesIO(exported(ReportFormat.DOCX)))

    texts = [paragraph.text for paragraph in document.paragraphs]
    comments = {int(c.text[1]): c.text for c in document.comments}
    assert texts[0] == report().question
    assert f"{QUOTES[2][0]}[2]" in texts
    assert comments.keys() == QUOTES.keys()
    assert QUOTES[3][0] in comments[3]
    body = document.element.xml
    assert body.count("commentRangeStart") == 5, "one for each mark of each sentence"


@pytest.mark.conformance("REC-05")
def test_the_quotes_of_a_word_document_are_read_back(tmp_path: Path) -> None:
    path = tmp_path / "report.docx"
    path.write_bytes(exported(ReportFormat.DOCX))

    read = read_quoted_document(path)

    assert read.job_id == "job-1"
    assert {each.mark: each.quote for each in read.quotes} == {
        m: q for m, (q, _, _) in QUOTES.items()
    }
    assert [each.evidence_id for each in read.quotes] == [11, 12, 13]
    (tmp_path / "other.docx").write_bytes(b"no document")
    with pytest.raises(BadInput, match="no Word document"):
        read_quoted_document(tmp_path / "other.docx")
    empty = io.BytesIO()
    Document().save(empty)
    (tmp_path / "empty.docx").write_bytes(empty.getvalue())
    with pytest.raises(BadInput, match="no quotes of a report"):
        read_quoted_document(tmp_path / "empty.docx")


@pytest.mark.conformance("REC-05")
@pytest.mark.parametrize("change", [("“", '"'), (", sha256 ", ", "), ("“", "“Not ")])
def test_a_comment_that_was_changed_once_is_read_as_another_quote(
    tmp_path: Path, change: tuple[str, str]
) -> None:
    path = tmp_path / "report.docx"
    path.write_bytes(exported(ReportFormat.DOCX))
    before = set(read_quoted_document(path).quotes)
    document = Document(str(path))
    first = next(iter(document.comments))
    for paragraph in first.paragraphs:
        paragraph.text = paragraph.text.replace(*change)
    document.save(str(path))

    changed = set(read_quoted_document(path).quotes) - before

    assert len(changed) == 1


@pytest.mark.conformance("REC-05")
def test_a_quote_with_a_line_like_that_of_its_place_is_read_back_whole(tmp_path: Path) -> None:
    quote = "The tower was finished in 1862.\n— Ada Marsh, keeper"
    first, *others = report().citations
    changed = (first.model_copy(update={"quote": quote}), *others)
    path = tmp_path / "report.docx"
    told = report().model_copy(update={"citations": changed})
    path.write_bytes(report_file(told, {}, ReportFormat.DOCX))

    quotes = {each.mark: each.quote for each in read_quoted_document(path).quotes}

    assert quotes[1] == quote


@pytest.mark.conformance("REC-05")
def test_a_pdf_has_the_text_in_three_scripts_and_links_its_marks() -> None:
    reader = PdfReader(io.BytesIO(exported(ReportFormat.PDF)))

    text = "".join(page.extract_text() for page in reader.pages)
    assert "The tower was finished in 1862." in text
    assert "Маяк был построен в 1862 году." in text
    assert "$x_1$ *#[" in text, "text is never markup"
    assert reader.metadata is not None
    assert reader.metadata.title == report().question
    links = [a for page in reader.pages for a in page.get("/Annots", [])]
    assert len(links) >= len(QUOTES)


@pytest.mark.conformance("REC-05")
def test_reference_managers_read_the_cited_documents() -> None:
    csl = json.loads(exported(ReportFormat.CSL))
    assert [each["title"] for each in csl] == [title for _, title, _ in QUOTES.values()]
    assert csl[0]["URL"] == QUOTES[1][2]
    assert csl[0]["issued"] == {"date-parts": [[2024, 3, 5]]}
    ris = rispy.loads(exported(ReportFormat.RIS).decode())
    assert [each["title"] for each in ris] == [title for _, title, _ in QUOTES.values()]
    assert ris[0]["year"] == "2024"
    assert ris[0]["urls"] == [QUOTES[1][2]]
    # The location in an archive, which the reader has no name for.
    assert [each["unknown_tag"] for each in ris[1:]] == [{"AV": ["маяки.md"]}, {"AV": ["灯塔.md"]}]
    assert [each for each in ris[1:] if "urls" in each] == []
    bib = bibtexparser.parse_string(exported(ReportFormat.BIBTEX).decode())  # type: ignore[attr-defined]
    assert bib.failed_blocks == []
    assert [entry.entry_type for entry in bib.entries] == ["online", "misc", "misc"]
    assert bib.entries[0].fields_dict["title"].value == r"{Lights \& \{Shoals\} of the Isles}"


@pytest.mark.conformance("REC-05")
def test_every_link_of_the_obsidian_notes_leads_to_a_passage() -> None:
    with zipfile.ZipFile(io.BytesIO(exported(ReportFormat.OBSIDIAN))) as archive:
        notes = {name: archive.read(name).decode() for name in archive.namelist()}

    links = re.findall(r"(?<!\\)\[\[([^\]#|]+)#\^(p\d+)\|\d+\]\]", notes["Report.md"])
    assert len(links) == 5
    for name, block in links:
        # Obsidian finds the id of a quote between blank lines.
        assert f"\n\n^{block}\n\n" in notes[f"{name}.md"]
    assert "\\$x\\_1\\$ \\*\\#\\[ \\%\\%not\\^1\\%\\%" in notes["Report.md"]


@pytest.mark.conformance("REC-05")
def test_sources_of_one_title_each_have_a_note() -> None:
    titles = ("Lights", "Lights 3", "LIGHTS", "Lights")
    first = report().citations[0]
    citations = tuple(
        first.model_copy(update={"mark": n, "title": title, "address": f"https://example.org/{n}"})
        for n, title in enumerate(titles, start=1)
    )
    told = report().model_copy(update={"citations": citations})

    with zipfile.ZipFile(io.BytesIO(report_file(told, {}, ReportFormat.OBSIDIAN))) as archive:
        names = [each.casefold() for each in archive.namelist() if each.startswith("sources/")]

    assert len(names) == len(set(names)) == 4


RIGHT_TO_LEFT = "המגדלור נבנה בשנת 1862."


def mixed_report() -> Report:
    """A report with findings in Hebrew and in English, asked in Hebrew."""
    asked, (first, *others) = report(), report().findings
    turned = ReportStatement(text=RIGHT_TO_LEFT, marks=(2,))
    return asked.model_copy(
        update={"question": "מתי נבנה המגדלור?", "findings": (turned, first, *others)}
    )


@pytest.mark.conformance("REC-05")
def test_right_to_left_paragraphs_of_a_word_document_are_marked_as_such() -> None:
    document = Document(io.BytesIO(report_file(mixed_report(), {}, ReportFormat.DOCX)))

    turned = [p for p in document.paragraphs if p.paragraph_format.element.xpath("w:pPr/w:bidi")]
    assert [p.text for p in turned] == ["מתי נבנה המגדלור?", f"{RIGHT_TO_LEFT}[2]"]
    assert [p.style.name for p in turned if p.style] == ["Title", "List Bullet"]
    runs = [run.text for p in document.paragraphs for run in p.runs if run.font.rtl]
    assert runs == ["מתי נבנה המגדלור?", RIGHT_TO_LEFT]


@pytest.mark.conformance("REC-05")
def test_right_to_left_lines_of_a_pdf_begin_at_the_right_margin() -> None:
    page = PdfReader(io.BytesIO(report_file(mixed_report(), {}, ReportFormat.PDF))).pages[0]
    found: list[tuple[str, bool]] = []

    def see(text: str, place: list[float], *_: object) -> None:
        if text.strip() in ("מתי", "•"):
            found.append((text.strip(), place[4] > float(page.mediabox.width) / 2))

    page.extract_text(visitor_text=see)

    # Four findings and a gap.
    assert found == [("מתי", True), ("•", True), *[("•", False)] * 4]


def png(width: int, height: int, density: tuple[int, int] = (3937, 3937)) -> bytes:
    """A picture of one colour, with its pixels a metre."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        )

    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    pixels = zlib.compress(b"".join(b"\0" + b"\x60" * width for _ in range(height)))
    parts = (
        chunk(b"IHDR", header),
        chunk(b"pHYs", struct.pack(">IIB", *density, 1)),
        chunk(b"IDAT", pixels),
        chunk(b"IEND", b""),
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


def with_figures(**pictures: bytes) -> tuple[Report, dict[str, StoredFigure]]:
    """The report with a figure of each picture, by its title."""
    drawn = [new_figure("image/png", data, title=title) for title, data in pictures.items()]
    figures = tuple(
        ReportFigure(
            id=each.sha256[:12],
            title=each.title,
            task="T1",
            tool="lab.plot",
            forms=(FigureForm(media_type=each.media_type, sha256=each.sha256),),
        )
        for each in drawn
    )
    images = {
        each.sha256: StoredFigure(
            media_type=each.media_type, title=each.title, tool="lab.plot", data=each.data
        )
        for each in drawn
    }
    return report().model_copy(update={"figures": figures}), images


@pytest.mark.conformance("REC-05")
@pytest.mark.parametrize("density", [(3937, 3937), (3937, 39), (1, 1)])
@pytest.mark.slow
def test_figures_are_images_that_fit_their_page_in_each_format(density: tuple[int, int]) -> None:
    drawn, images = with_figures(Wide=png(400, 100, density), Tall=png(40, 1600, density))

    word = Document(io.BytesIO(report_file(drawn, images, ReportFormat.DOCX)))
    pages = PdfReader(io.BytesIO(report_file(drawn, images, ReportFormat.PDF))).pages
    with zipfile.ZipFile(io.BytesIO(report_file(drawn, images, ReportFormat.OBSIDIAN))) as vault:
        note = vault.read("Report.md").decode()
        kept = {name: vault.read(name) for name in vault.namelist() if name.startswith("figures/")}

    page = word.sections[0]
    sizes = [(each.width, each.height) for each in word.inline_shapes]
    text_width = (page.page_width or 0) - (page.left_margin or 0) - (page.right_margin or 0)
    text_height = (page.page_height or 0) - (page.top_margin or 0) - (page.bottom_margin or 0)
    assert [width == text_width for width, _ in sizes] == [True, False]
    assert all(height < text_height for _, height in sizes)
    assert [round(height / width, 2) for width, height in sizes] == [0.25, 40]
    placed: list[tuple[float, float]] = []

    def see(operator: bytes, _: object, place: list[float], *__: object) -> None:
        if operator == b"Do":
            placed.append((place[0], place[3]))

    for each in pages:
        each.extract_text(visitor_operand_before=see)
    height = float(pages[0].mediabox.height)
    assert len(placed) == 2
    assert all(0 < abs(tall) < height - 150 for _, tall in placed)
    assert sorted(kept.values()) == sorted(each.data for each in images.values())
    assert all(f"![[{name}]]" in note for name in kept)


def test_a_damaged_figure_is_named_and_the_report_is_written_without_it() -> None:
    damaged, images = with_figures(Damaged=b"\x89PNG no picture", Whole=png(400, 100))

    word = Document(io.BytesIO(report_file(damaged, images, ReportFormat.DOCX)))
    pages = PdfReader(io.BytesIO(report_file(damaged, images, ReportFormat.PDF))).pages

    captions = ["Damaged. (This document cannot show the image.)", "Whole."]
    assert [p.text for p in word.paragraphs if p.text.startswith(("Dam", "Whole"))] == captions
    assert len(word.inline_shapes) == 1
    shown = "".join(each.extract_text() for each in pages)
    assert all(each in shown for each in captions)
    assert sum(len(each.images) for each in pages) == 1


def test_no_page_ends_with_the_title_of_a_source_without_a_passage() -> None:
    first = report().citations[0]
    many = tuple(
        first.model_copy(
            update={"mark": n, "title": f"Title {n}", "address": f"a{n}.md", "quote": "word " * n}
        )
        for n in range(1, 60)
    )
    long = report().model_copy(update={"citations": many, "findings": (), "conclusions": ()})

    pages = PdfReader(io.BytesIO(report_file(long, {}, ReportFormat.PDF))).pages
    word = Document(io.BytesIO(report_file(long, {}, ReportFormat.DOCX)))

    lines = [each.extract_text().strip().splitlines() for each in pages]
    assert len(lines) > 3
    # The last line is the page's number.
    assert not [line for *_, line, _ in lines if line.startswith("Title ")]
    titles = [each for each in word.paragraphs if each.text.startswith("Title ")]
    assert len(titles) == 59
    assert all(each.paragraph_format.keep_with_next for each in titles)
