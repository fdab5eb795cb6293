"""Gather the parts of a report that the HTML report and the page show in the same way."""

from collections.abc import Mapping
from typing import Any

from holdfast.models.evidence.evidence import Report
from holdfast.reports.check_summary import author_line, check_lines, stage_lines
from holdfast.reports.evidence_table import evidence_rows
from holdfast.reports.readable_quotes import quoted_rows, readable_text
from holdfast.reports.report_text import (
    NOT_STATED,
    about_text,
    caption_text,
    confidence_text,
    origin_line,
    possible_text,
    settlement_text,
    shown_gaps,
)
from holdfast.reports.short_answer import short_answer
from holdfast.reports.source_list import cited_documents, passage_place
from holdfast.reports.usual_level import usual_level

TEXT_FUNCTIONS: Mapping[str, Any] = {
    "about": about_text,
    "caption": caption_text,
    "confidence": confidence_text,
    "place": passage_place,
    "quoted_rows": quoted_rows,
    "readable": readable_text,
    "possible": possible_text,
    "settlement": settlement_text,
}
"""What templates call to put an element of a report into words."""


def report_parts(report: Report) -> dict[str, Any]:
    """Return the parts by the names that templates use."""
    rows = evidence_rows(report)
    return {
        "report": report,
        "check_lines": check_lines(report),
        "stage_lines": stage_lines(report),
        "author": author_line(report),
        "origin": origin_line(report),
        "rows": rows,
        "usual": usual_level(report.findings),
        "documents": cited_documents(report),
        "lead": short_answer(report),
        "gaps": shown_gaps(report),
        "gaps_title": NOT_STATED if rows else "Gaps",
    }
