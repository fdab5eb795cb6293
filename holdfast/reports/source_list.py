"""Lay out the sources of a report: each document once, with the passages that are cited from it."""

from typing import NamedTuple

from holdfast.models.evidence.evidence import Citation, Report
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
        groups.setdefault((citation.title, document_place(citation)), []).append(citation)
    return tuple(
        CitedDocument(title, place, tuple(citations))
        for (title, place), citations in groups.items()
    )


def document_place(citation: Citation) -> str:
    """The address of the document, its date, and the server that reported it."""
    parts = (
        citation.address,
        citation.date[:10],
        f"via {citation.via}" if citation.via else "",
    )
    return ", ".join(part for part in parts if part)


def passage_place(citation: Citation) -> str:
    """The passage's heading, and its characters in the document."""
    heading = headings_below_title(citation.title, citation.heading)
    characters = f"characters {citation.start}-{citation.end}"
    return f"{heading}, {characters}" if heading else characters
