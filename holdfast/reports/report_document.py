"""Define the report as JSON: its fields, and those that other programs name."""

from holdfast.models.evidence.evidence import Report, ReportStatement
from holdfast.models.frozen_model import Frozen


class ReportSource(Frozen):
    """A cited source, once, with all its marks."""

    source_id: int
    title: str
    heading: str
    date: str
    address: str
    via: str
    sha256: str
    marks: tuple[int, ...]


class ReportDocument(Report):
    """The report with `key_findings` and `sources`.

    `key_findings` are the findings. With answer, confidence and gaps they are the report's fields
    in VMAO.
    """

    key_findings: tuple[ReportStatement, ...]
    sources: tuple[ReportSource, ...]


def report_document(report: Report) -> ReportDocument:
    """Return the report with the additional fields."""
    marks: dict[int, list[int]] = {}
    for citation in report.citations:
        marks.setdefault(citation.source_id, []).append(citation.mark)
    by_source = {citation.source_id: citation for citation in reversed(report.citations)}
    sources = tuple(
        ReportSource(
            source_id=citation.source_id,
            title=citation.title,
            heading=citation.heading,
            date=citation.date,
            address=citation.address,
            via=citation.via,
            sha256=citation.sha256,
            marks=tuple(marks[citation.source_id]),
        )
        for citation in sorted(by_source.values(), key=lambda citation: citation.mark)
    )
    return ReportDocument(**dict(report), key_findings=report.findings, sources=sources)
