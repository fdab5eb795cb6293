"""Lay out the sources of a report: each document once, with the passages that are cited from it.

A calculation, and the answer of a tool that names no documents, are sources without a document.
"""

from collections.abc import Collection
from typing import NamedTuple

from holdfast.models.evidence.evidence import TOOL_ADDRESS_PREFIX, Citation, Report
from holdfast.models.text.passage_titles import headings_below_title


class CitedDocument(NamedTuple):
    """A document with its citations, in order of their marks."""

    title: str
    place: str
    citations: tuple[Citation, ...]

    @property
    def link(self) -> str:
        """The address on the web; empty for a document of the user's own."""
        address = self.citations[0].address
        return address if address.startswith(("https://", "http://")) else ""


def cited_documents(report: Report) -> tuple[CitedDocument, ...]:
    """Return the cited documents in order of their first marks."""
    groups: dict[tuple[str, str], list[Citation]] = {}
    for citation in report.citations:
        groups.setdefault((source_name(citation), document_place(citation)), []).append(citation)
    return tuple(
        CitedDocument(title, place, tuple(citations))
        for (title, place), citations in groups.items()
    )


def source_name(citation: Citation) -> str:
    """The title of the document; what else it is, if it is none."""
    if citation.is_document or citation.title:
        return citation.title
    return "Calculation" if citation.is_calculation else "Answer of a tool"


def counted_sources(report: Report) -> str:
    """Say how many documents are cited of how many, and how many calculations and tool answers."""
    documents = {each.address for each in report.citations if each.is_document}
    others = [each for each in report.citations if not each.is_document]
    calculations = {each.source_id for each in others if each.is_calculation}
    answers = {each.source_id for each in others} - calculations
    of_all = "" if report.documents is None else f" (the collection has {report.documents:,})"
    counts = [f"{_counted(documents, 'document')}{of_all}"]
    counts += [_counted(calculations, "calculation")] if calculations else []
    counts += [_counted(answers, "tool answer")] if answers else []
    *first, last = counts
    return f"{', '.join(first)} and {last}" if first else last


def _counted(found: Collection[object], noun: str) -> str:
    return f"1 {noun}" if len(found) == 1 else f"{len(found):,} {noun}s"


def document_place(citation: Citation) -> str:
    """The address of the document, its date, and the server that reported it."""
    parts = (
        citation.address.removeprefix(TOOL_ADDRESS_PREFIX),
        citation.date[:10],
        f"via {citation.via}" if citation.via else "",
    )
    return ", ".join(part for part in parts if part)


def passage_place(citation: Citation) -> str:
    """The passage's heading, and its characters in the document; the code of a calculation."""
    if citation.code:
        with_inputs = f", with {citation.inputs}" if citation.inputs else ""
        return f"computed by: {citation.code}{with_inputs}"
    heading = headings_below_title(citation.title, citation.heading)
    characters = f"characters {citation.start}-{citation.end}"
    return f"{heading}, {characters}" if heading else characters
