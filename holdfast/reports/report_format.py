"""Define the formats in which a report is given out."""

from enum import StrEnum
from pathlib import Path


class ReportFormat(StrEnum):
    """The form of a report."""

    JSON = "json"
    MARKDOWN = "md"
    HTML = "html"
    DOCX = "docx"
    PDF = "pdf"
    CSL = "csl"
    RIS = "ris"
    BIBTEX = "bibtex"
    OBSIDIAN = "obsidian"

    @property
    def is_file(self) -> bool:
        """True if the format is another program's, which `report_file` writes."""
        return self not in (ReportFormat.JSON, ReportFormat.MARKDOWN, ReportFormat.HTML)

    @property
    def is_text(self) -> bool:
        """True if the report can be printed on a terminal."""
        return self not in (ReportFormat.DOCX, ReportFormat.PDF, ReportFormat.OBSIDIAN)

    @property
    def ending(self) -> str:
        return _MEDIA_TYPES_AND_ENDINGS[self][1]

    @classmethod
    def of_file(cls, path: Path | None) -> "ReportFormat | None":
        """Return the format that the path of a file chooses by its ending.

        None for no path, for a folder that is there, and for an ending of no format.
        """
        if path is None or path.is_dir():
            return None
        name = path.name.lower()
        longest_first = sorted(cls, key=lambda each: len(each.ending), reverse=True)
        return next((each for each in longest_first if name.endswith(each.ending)), None)

    @property
    def media_type(self) -> str:
        return _MEDIA_TYPES_AND_ENDINGS[self][0]


_MEDIA_TYPES_AND_ENDINGS = {
    ReportFormat.JSON: ("application/json", ".json"),
    ReportFormat.MARKDOWN: ("text/markdown", ".md"),
    ReportFormat.HTML: ("text/html", ".html"),
    ReportFormat.DOCX: (
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        ".docx",
    ),
    ReportFormat.PDF: ("application/pdf", ".pdf"),
    ReportFormat.CSL: ("application/vnd.citationstyles.csl+json", ".csl.json"),
    ReportFormat.RIS: ("application/x-research-info-systems", ".ris"),
    ReportFormat.BIBTEX: ("application/x-bibtex", ".bib"),
    ReportFormat.OBSIDIAN: ("application/zip", ".obsidian.zip"),
}
