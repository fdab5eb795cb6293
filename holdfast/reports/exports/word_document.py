"""Write a report as a Word document, each quote a comment on its sentence, and read it back."""

import io
import re
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from holdfast.models.calls.tool_figures import StoredFigure
from holdfast.models.errors import BadInput
from holdfast.models.evidence.evidence import Citation, Report
from holdfast.models.frozen_model import Frozen
from holdfast.models.text.storable_text import storable_text
from holdfast.models.text.terminal_text import single_line
from holdfast.models.text.writing_direction import is_right_to_left
from holdfast.reports.exports.report_outline import (
    Line,
    ReportOutline,
    Section,
    figure_caption,
    report_outline,
)
from holdfast.reports.exports.word_pictures import word_picture
from holdfast.reports.source_list import passage_place
from holdfast.tools.optional_parts import OptionalPart, require_part

if TYPE_CHECKING:
    from docx.document import Document
    from docx.text.paragraph import Paragraph
    from docx.text.run import Run

_AUTHOR = "Holdfast"
_INITIALS = "HF"
_MAX_BYTES = 50_000_000
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_PROOF = re.compile(r"^evidence (\d+), sha256 ([0-9a-f]{64})$", re.MULTILINE)
_MARK = re.compile(r"\s*\[(\d+)\]\s*(.*)", re.DOTALL)
_AFTER_DIRECTION = ("w:spacing", "w:ind", "w:jc", "w:rPr", "w:sectPr")
"""Properties of a paragraph that a schema wants after its direction of writing."""
_ASIAN_FONT = "Noto Serif CJK SC"


class DocumentQuote(Frozen):
    """A quote that a comment of a Word document carries."""

    mark: int
    quote: str
    evidence_id: int
    """0: the comment does not say it any more."""
    sha256: str
    """Empty: the comment does not say it any more."""


class QuotedDocument(Frozen):
    """What a Word document says of its origin."""

    job_id: str
    quotes: tuple[DocumentQuote, ...]


def to_docx(report: Report, images: Mapping[str, StoredFigure]) -> bytes:
    """Return the report as a Word document (Office Open XML).

    Raises:
        PartMissing: the part `documents` is not installed.
    """
    require_part(OptionalPart.DOCUMENTS, "writing Word documents")
    from docx import Document

    document = Document()
    writing = _DocumentWriting(document, {each.mark: each for each in report.citations})
    properties = document.core_properties
    properties.author = _AUTHOR
    properties.title = _text(report.question)[:255]
    properties.identifier = report.job_id
    if report.delivered_at is not None:
        properties.created = report.delivered_at
    writing.write(report_outline(report), images)
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


def read_quoted_document(path: Path) -> QuotedDocument:
    """Return the job and the quotes that a Word document of a report carries.

    Raises:
        BadInput: the file is no such document.
        PartMissing: the part `documents` is not installed.
    """
    require_part(OptionalPart.DOCUMENTS, "reading Word documents")
    from docx import Document
    from docx.opc.exceptions import PackageNotFoundError
    from lxml.etree import LxmlError

    try:
        if path.stat().st_size > _MAX_BYTES or _unpacked_bytes(path) > _MAX_BYTES:
            raise BadInput(f"{path.name!r} is too large for a report; at most {_MAX_BYTES:,} bytes")
        document = Document(str(path))
        found = [
            _quote_of_comment("\n".join(p.text for p in each.paragraphs), each.author)
            for each in document.comments
        ]
    except OSError as error:
        raise BadInput(f"cannot read {str(path)!r}: {error.strerror or error}") from error
    except (PackageNotFoundError, zipfile.BadZipFile, KeyError, ValueError, LxmlError) as error:
        raise BadInput(f"{path.name!r} is no Word document: {error}") from error
    # A quote has a comment on each of its sentences; one of them may have been altered.
    quotes = sorted({each for each in found if each is not None}, key=lambda each: each.mark)
    job_id = document.core_properties.identifier
    if not job_id or not quotes:
        raise BadInput(
            f"{path.name!r} has no quotes of a report: `holdfast report JOB --format docx` writes "
            "them into comments, and they were removed, or the file has another origin"
        )
    return QuotedDocument(job_id=job_id, quotes=tuple(quotes))


def _unpacked_bytes(path: Path) -> int:
    with zipfile.ZipFile(path) as archive:
        return sum(each.file_size for each in archive.infolist())


def _quote_of_comment(text: str, author: str) -> DocumentQuote | None:
    """Return the quote of a comment that Holdfast wrote; None for a comment of a person.

    Of a comment that a person changed, the words after its mark count as its quote.
    """
    # The place comes last, and a quote may contain such a line itself.
    words, dash, _ = text.rpartition("\n— ")
    head, proof = _MARK.match(words if dash else text), _PROOF.search(text)
    if head is None or (proof is None and author != _AUTHOR):
        return None
    words = head[2].strip()
    return DocumentQuote(
        mark=int(head[1]),
        quote=words[1:-1] if words.startswith("“") and words.endswith("”") else words,
        evidence_id=int(proof[1]) if proof else 0,
        sha256=proof[2] if proof else "",
    )


class _DocumentWriting:
    """One document that is being written."""

    def __init__(self, document: "Document", citations: Mapping[int, Citation]) -> None:
        self._document = document
        self._citations = citations
        self._use_fonts_of_every_script()

    def write(self, outline: ReportOutline, images: Mapping[str, StoredFigure]) -> None:
        self._document.add_heading(_text(outline.title), 0)
        for warning in outline.warnings:
            self._document.add_paragraph(_text(f"Warning: {warning}"), style="Intense Quote")
        for section in outline.sections:
            self._section(section)
        self._figures(outline, images)
        self._sources(outline)
        for section in outline.appendix:
            self._section(section)
        self._note(self._document.add_paragraph(), outline.origin)
        self._turn_paragraphs()

    def _section(self, section: Section) -> None:
        if section.title:
            self._document.add_heading(section.title, 1)
        paragraph = None
        for line in section.lines:
            if section.is_list:
                paragraph = self._document.add_paragraph(style="List Bullet")
            elif paragraph is None or line.is_strong or not line.text or paragraph.style is None:
                paragraph = self._document.add_paragraph()
            else:
                paragraph.add_run(" ")
            self._line(paragraph, line)
            paragraph = None if line.is_strong or not line.text else paragraph

    def _line(self, paragraph: "Paragraph", line: Line) -> None:
        sentence = paragraph.add_run(_text(line.text))
        sentence.bold = line.is_strong
        runs = [sentence]
        for mark in line.marks:
            sign = paragraph.add_run(f"[{mark}]")
            sign.font.superscript = True
            runs.append(sign)
        for mark in line.marks:
            if mark in self._citations:
                self._comment(runs, self._citations[mark])
        if line.note:
            self._note(paragraph, f" ({line.note})" if line.text else line.note)

    def _comment(self, runs: "list[Run]", citation: Citation) -> None:
        place = f"{citation.title}, {citation.address}, {passage_place(citation)}"
        text = (
            f"[{citation.mark}] “{_text(citation.quote)}”\n— {_text(single_line(place))}\n"
            f"evidence {citation.evidence_id}, sha256 {citation.sha256}"
        )
        self._document.add_comment(runs, text=text, author=_AUTHOR, initials=_INITIALS)

    def _figures(self, outline: ReportOutline, images: Mapping[str, StoredFigure]) -> None:
        if outline.figures:
            self._document.add_heading("Figures", 1)
        for figure in outline.figures:
            picture = word_picture(figure, images)
            if picture is not None:
                self._document.add_picture(picture.data, picture.width, picture.height)
                self._document.paragraphs[-1].paragraph_format.keep_with_next = True
            caption = figure_caption(figure, is_shown=picture is not None)
            self._note(self._document.add_paragraph(), caption)

    def _sources(self, outline: ReportOutline) -> None:
        if outline.documents:
            self._document.add_heading("Sources", 1)
        for document in outline.documents:
            paragraph = self._document.add_paragraph()
            paragraph.paragraph_format.keep_with_next = True
            paragraph.add_run(_text(document.title)).bold = True
            self._note(paragraph, f" {document.place}")
            for citation in document.citations:
                quoted = self._document.add_paragraph(style="Quote")
                quoted.add_run(f"[{citation.mark}] “{_text(citation.quote)}” ")
                self._note(quoted, passage_place(citation))

    def _note(self, paragraph: "Paragraph", text: str) -> None:
        from docx.shared import Pt, RGBColor

        run = paragraph.add_run(_text(text))
        run.font.size = Pt(9)
        run.font.color.rgb = RGBColor(0x5A, 0x61, 0x70)

    def _turn_paragraphs(self) -> None:
        """Begin each right-to-left paragraph, with its bullet, at the right margin."""
        from docx.oxml import OxmlElement

        inside = (p for each in self._document.comments for p in each.paragraphs)
        for paragraph in (*self._document.paragraphs, *inside):
            if is_right_to_left(paragraph.text):
                # Alignment is at the start, which `w:bidi` moves to the right.
                properties = paragraph.paragraph_format.element.get_or_add_pPr()
                properties.insert_element_before(OxmlElement("w:bidi"), *_AFTER_DIRECTION)
            for run in paragraph.runs:
                if is_right_to_left(run.text):
                    _turn_run(run)

    def _use_fonts_of_every_script(self) -> None:
        """Name a font for East Asian text; without it some programs show boxes."""
        from docx.oxml.ns import qn

        normal = self._document.styles["Normal"]
        fonts = normal.element.get_or_add_rPr().get_or_add_rFonts()
        fonts.set(qn("w:eastAsia"), _ASIAN_FONT)


def _turn_run(run: "Run") -> None:
    """Have Word place full stops as in a right-to-left text, with the weight and size of the run.

    Word reads other properties for weight and size in such a run.
    """
    from docx.oxml import OxmlElement
    from docx.oxml.ns import qn

    run.font.rtl = True
    run.font.cs_bold = run.font.bold
    if run.font.size is not None:
        size = OxmlElement("w:szCs")
        size.set(qn("w:val"), str(round(run.font.size.pt * 2)))
        run.element.get_or_add_rPr().find(qn("w:sz")).addnext(size)


def _text(text: str) -> str:
    """Return the text without signs that XML cannot contain."""
    return _UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", storable_text(text))
