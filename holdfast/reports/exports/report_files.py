"""Write a report in one of the formats of other programs."""

import io
import zipfile
from collections.abc import Callable, Mapping
from enum import StrEnum

from holdfast.models.calls.tool_figures import StoredFigure
from holdfast.models.evidence.evidence import Report
from holdfast.reports.exports.obsidian_vault import obsidian_notes
from holdfast.reports.exports.pdf_document import to_pdf
from holdfast.reports.exports.reference_lists import to_bibtex, to_csl_json, to_ris
from holdfast.reports.exports.word_document import to_docx


class ReportFile(StrEnum):
    """A format of other programs."""

    DOCX = "docx"
    PDF = "pdf"
    CSL = "csl"
    RIS = "ris"
    BIBTEX = "bibtex"
    OBSIDIAN = "obsidian"

    @property
    def is_text(self) -> bool:
        """True if the file can be printed on a terminal."""
        return self in (ReportFile.CSL, ReportFile.RIS, ReportFile.BIBTEX)

    @property
    def ending(self) -> str:
        return _ENDINGS[self]

    @property
    def media_type(self) -> str:
        return _MEDIA_TYPES[self]


_ENDINGS: Mapping[ReportFile, str] = {
    ReportFile.DOCX: ".docx",
    ReportFile.PDF: ".pdf",
    ReportFile.CSL: ".csl.json",
    ReportFile.RIS: ".ris",
    ReportFile.BIBTEX: ".bib",
    ReportFile.OBSIDIAN: ".obsidian.zip",
}
_MEDIA_TYPES: Mapping[ReportFile, str] = {
    ReportFile.DOCX: "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    ReportFile.PDF: "application/pdf",
    ReportFile.CSL: "application/vnd.citationstyles.csl+json",
    ReportFile.RIS: "application/x-research-info-systems",
    ReportFile.BIBTEX: "application/x-bibtex",
    ReportFile.OBSIDIAN: "application/zip",
}
_Images = Mapping[str, StoredFigure]


def report_file(report: Report, images: _Images, form: ReportFile) -> bytes:
    """Return the report in the format; `images` has every form of its figures.

    Raises:
        PartMissing: the format needs a part that is not installed.
    """
    return _WRITERS[form](report, images)


def _obsidian(report: Report, images: _Images) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in obsidian_notes(report, images).items():
            archive.writestr(path, content)
    return out.getvalue()


_WRITERS: Mapping[ReportFile, Callable[[Report, _Images], bytes]] = {
    ReportFile.DOCX: to_docx,
    ReportFile.PDF: to_pdf,
    ReportFile.CSL: lambda report, _: to_csl_json(report).encode(),
    ReportFile.RIS: lambda report, _: to_ris(report).encode(),
    ReportFile.BIBTEX: lambda report, _: to_bibtex(report).encode(),
    ReportFile.OBSIDIAN: _obsidian,
}
