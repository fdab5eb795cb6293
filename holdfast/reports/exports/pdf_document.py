"""Write a report as a PDF with Typst, which is one wheel without system libraries."""

import json
from collections.abc import Mapping
from itertools import groupby
from pathlib import Path
from shutil import copyfile
from tempfile import TemporaryDirectory
from typing import Any

from holdfast.models.calls.tool_figures import FIGURE_EXTENSIONS, ReportFigure, StoredFigure
from holdfast.models.evidence.evidence import Report
from holdfast.models.text.writing_direction import is_right_to_left
from holdfast.reports.exports.report_outline import (
    Line,
    ReportOutline,
    Section,
    figure_caption,
    report_outline,
)
from holdfast.reports.readable_quotes import readable_text
from holdfast.reports.source_list import passage_place
from holdfast.tools.optional_parts import OptionalPart, require_part

_TEMPLATE = Path(__file__).parent / "report.typ"
_PICTURES = frozenset({"image/svg+xml", "image/png", "image/jpeg", "image/gif", "image/webp"})


def to_pdf(report: Report, images: Mapping[str, StoredFigure]) -> bytes:
    """Return the report as a PDF.

    Text in Latin, Greek and Cyrillic script needs no installed font; other scripts need one of the
    Noto fonts, or a font that comes with the operating system.

    Raises:
        PartMissing: the part `pdf` is not installed.
    """
    require_part(OptionalPart.PDF, "writing PDF")
    import typst

    with TemporaryDirectory(prefix="holdfast-pdf-") as name:
        folder = Path(name)
        copyfile(_TEMPLATE, folder / _TEMPLATE.name)
        content = _content(report_outline(report), images, folder)
        (folder / "report.json").write_text(json.dumps(content), "utf-8")
        made = typst.compile(str(folder / _TEMPLATE.name), root=str(folder), format="pdf")
    if not isinstance(made, bytes):
        raise TypeError("Typst gave no single PDF")
    return made


def _content(
    outline: ReportOutline, images: Mapping[str, StoredFigure], folder: Path
) -> dict[str, Any]:
    """Return what the template reads, and write the images that it names."""
    return {
        "title": _directed(outline.title),
        "warnings": list(outline.warnings),
        "sections": [_section(each) for each in outline.sections],
        "appendix": [_section(each) for each in outline.appendix],
        "figures": [_figure(each, images, folder) for each in outline.figures],
        "documents": [
            {
                "title": _directed(document.title),
                "place": document.place,
                "link": document.link,
                "citations": [
                    {
                        "mark": each.mark,
                        "place": passage_place(each),
                        "quote": _directed(readable_text(each.quote)),
                    }
                    for each in document.citations
                ],
            }
            for document in outline.documents
        ],
        "origin": outline.origin,
    }


def _directed(text: str) -> dict[str, str | bool]:
    return {"text": text, "is_right_to_left": is_right_to_left(text)}


def _section(section: Section) -> dict[str, Any]:
    """The section, with its lines in groups of one direction of writing."""
    return {
        "title": section.title,
        "is_list": section.is_list,
        "groups": [
            {"is_right_to_left": is_turned, "lines": [line._asdict() for line in lines]}
            for is_turned, lines in groupby(section.lines, _is_right_to_left)
        ],
    }


def _is_right_to_left(line: Line) -> bool:
    return is_right_to_left(line.text or line.note)


def _figure(
    figure: ReportFigure, images: Mapping[str, StoredFigure], folder: Path
) -> dict[str, Any]:
    known = ((form.sha256, images.get(form.sha256)) for form in figure.forms)
    files = (
        _file(name, image, folder)
        for name, image in known
        if image is not None and image.media_type in _PICTURES
    )
    file = next(filter(None, files), "")
    caption = figure_caption(figure, is_shown=bool(file))
    return {"caption": _directed(caption), "file": file}


def _file(name: str, image: StoredFigure, folder: Path) -> str:
    """Return the name of the image's file in the folder; empty if Typst cannot draw the image.

    `name` is the file's name without its ending.
    """
    import typst

    file = f"{name}{FIGURE_EXTENSIONS[image.media_type]}"
    (folder / file).write_bytes(image.data)
    if image.is_built_in:
        return file
    # A tool sent the image. One that is damaged must not take the report with it.
    page = folder / "image.typ"
    page.write_text(f'#image("{file}")', "utf-8")
    try:
        typst.compile(str(page), root=str(folder), format="pdf", ignore_system_fonts=True)
    except typst.TypstError:
        return ""
    return file
