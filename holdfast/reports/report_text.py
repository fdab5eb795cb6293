"""Format parts of a report as plain text, for the Markdown and the HTML report alike."""

from collections.abc import Callable

from holdfast.models.calls.tool_figures import ReportFigure
from holdfast.models.evidence.evidence import (
    PossibleValue,
    Report,
    ReportConclusion,
    ReportContradiction,
)

NOT_STATED = "What the documents do not state"
"""The title of the gaps of a report with a table of evidence."""
FigureAddress = Callable[[ReportFigure], str | None]
"""Returns the address of a figure's image; None if the image must not be shown."""


def confidence_text(conclusion: ReportConclusion) -> str:
    """The confidence and the limits of a conclusion; empty if it has neither."""
    sure = "" if conclusion.confidence is None else f"confidence {conclusion.confidence:.0%}"
    return "; ".join(part for part in (sure, conclusion.limits) if part)


def possible_text(possible: PossibleValue) -> str:
    """How sure the value is, and why it was not taken."""
    return f"confidence {possible.confidence:.0%}, and a value needs {possible.needed:.0%}"


def settlement_text(contradiction: ReportContradiction) -> str:
    return "settled by another search" if contradiction.settled_by else "not settled"


def caption_text(figure: ReportFigure) -> str:
    caption = f"{figure.caption} " if figure.caption else ""
    return f"{caption}(figure {figure.id})"


def origin_line(report: Report) -> str:
    """The job of the report, the date of its delivery and how many documents it cites.

    Empty for a report that was not loaded from the database.
    """
    if not report.job_id or report.delivered_at is None:
        return ""
    documents = len({citation.address for citation in report.citations})
    cited = "1 document" if documents == 1 else f"{documents} documents"
    return f"Job {report.job_id}, delivered {report.delivered_at:%Y-%m-%d %H:%M %Z}, cites {cited}."
