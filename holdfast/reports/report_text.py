"""Format parts of a report as plain text, for the Markdown and the HTML report alike."""

from collections.abc import Callable
from decimal import Decimal

from holdfast.models.budget.money_text import format_money
from holdfast.models.calls.tool_figures import ReportFigure
from holdfast.models.evidence.evidence import (
    EvidenceLevel,
    PossibleValue,
    Report,
    ReportConclusion,
    ReportContradiction,
    ReportStatement,
)
from holdfast.reports.readable_quotes import readable_text
from holdfast.reports.source_list import counted_sources

NOT_STATED = "What the documents do not state"
"""The title of the gaps of a report with a table of evidence."""
FigureAddress = Callable[[ReportFigure], str | None]
"""Returns the address of a figure's image; None if the image must not be shown."""


def confidence_text(conclusion: ReportConclusion) -> str:
    """The confidence and the limits of a conclusion; empty if it has neither."""
    sure = "" if conclusion.confidence is None else f"confidence {conclusion.confidence:.0%}"
    link = ". " if conclusion.limits[:1].isupper() else "; "
    return link.join(part for part in (sure, conclusion.limits) if part)


def about_text(possible: PossibleValue) -> str:
    """What the value is of, with the sign that leads to the value: a question has its own."""
    return possible.about if possible.about.endswith("?") else f"{possible.about}:"


def possible_text(possible: PossibleValue) -> str:
    """How sure the value is, why it was not taken, and what it was read from."""
    sure = f"confidence {possible.confidence:.0%}, and a value needs {possible.needed:.0%}"
    if possible.passage is None:
        return sure
    place = ", ".join(e for e in (possible.passage.title, possible.passage.address) if e)
    quoted = f"read from “{readable_text(possible.passage.quote)}”"
    return f"{sure}; {quoted}, {place}" if place else f"{sure}; {quoted}"


def level_text(statement: ReportStatement) -> str:
    """The level of the evidence; empty if nothing is cited, or nobody said it."""
    level = statement.level
    return "" if level in (None, EvidenceLevel.NONE) else str(level)


def settlement_text(contradiction: ReportContradiction) -> str:
    return "settled by another search" if contradiction.settled_by else "not settled"


def caption_text(figure: ReportFigure) -> str:
    caption = f"{figure.caption} " if figure.caption else ""
    return f"{caption}(figure {figure.id})"


def shown_gaps(report: Report) -> tuple[str, ...]:
    """The gaps that say more than that the question has no answer, as its start says."""
    if report.answer is not None:
        return report.gaps
    asked = _folded(report.question)
    return tuple(gap for gap in report.gaps if _folded(gap.removeprefix("Not found: ")) != asked)


def _folded(text: str) -> str:
    return " ".join(text.split()).casefold().rstrip(" .?")


def origin_line(report: Report) -> str:
    """The job of the report, its date, the sources that it cites, if any, and what it took.

    Empty for a report that was not loaded from the database.
    """
    if not report.job_id or report.delivered_at is None:
        return ""
    made = f"Job {report.job_id}, delivered {report.delivered_at:%Y-%m-%d %H:%M %Z}"
    return f"{made}{_basis(report)}. {_spending(report)}".rstrip()


def _basis(report: Report) -> str:
    """What the report cites; if it cites nothing, how many documents could be read."""
    if report.citations:
        return f", cites {counted_sources(report)}"
    if not report.documents:
        return ""
    return f", from a collection of {_counted(report.documents, 'document')}"


def _spending(report: Report) -> str:
    """The calls, tokens and cost of the job; empty if they are not known."""
    if not report.stages:
        return ""
    calls = sum(each.model_calls for each in report.stages)
    searches = sum(each.tool_calls for each in report.stages)
    tokens = sum(each.input_tokens + each.output_tokens for each in report.stages)
    amounts = [_counted(calls, "model call"), _counted(searches, "tool call")]
    amounts += [f"{tokens:,} tokens"] if tokens else []
    costs = [each.cost for each in report.stages]
    priced = sum((each for each in costs if each is not None), start=Decimal(0))
    amounts += [format_money(priced, report.currency)] if priced and None not in costs else []
    return f"It took {', '.join(amounts)}."


def _counted(number: int, noun: str) -> str:
    return f"1 {noun}" if number == 1 else f"{number:,} {noun}s"
