"""Write a report in one of the formats of other programs."""

import io
import zipfile
from collections.abc import Callable, Mapping

from holdfast.models.calls.tool_figures import StoredFigure
from holdfast.models.evidence.evidence import Report
from holdfast.reports.exports.obsidian_vault import obsidian_notes
from holdfast.reports.exports.pdf_document import to_pdf
from holdfast.reports.exports.reference_lists import to_bibtex, to_csl_json, to_ris
from holdfast.reports.exports.word_document import to_docx
from holdfast.reports.report_format import ReportFormat

_Images = Mapping[str, StoredFigure]


def report_file(report: Report, images: _Images, form: ReportFormat) -> bytes:
    """Return the report in the format of another program; `images` has every form of its figures.

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


_WRITERS: Mapping[ReportFormat, Callable[[Report, _Images], bytes]] = {
    ReportFormat.DOCX: to_docx,
    ReportFormat.PDF: to_pdf,
    ReportFormat.CSL: lambda report, _: to_csl_json(report).encode(),
    ReportFormat.RIS: lambda report, _: to_ris(report).encode(),
    ReportFormat.BIBTEX: lambda report, _: to_bibtex(report).encode(),
    ReportFormat.OBSIDIAN: _obsidian,
}
