"""Define the formats in which a report is given out."""

from enum import StrEnum


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
