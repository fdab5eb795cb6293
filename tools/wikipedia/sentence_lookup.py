"""Find the sentences of a text that contain a term, and a section by its heading."""

from typing import NamedTuple

from holdfast.models.text.sentences import sentence_spans
from holdfast.tools.documents.passage_splitter import Heading, find_headings


class HeadedSpan(NamedTuple):
    """A span of a text, `text[start:end]`, with the nearest heading above it."""

    heading: str
    start: int
    end: int


def find_sentences(text: str, term: str) -> tuple[HeadedSpan, ...]:
    """Return the sentences and lines that contain the term (in any case), in order."""
    wanted = term.casefold()
    above = tuple(find_headings(text))
    return tuple(
        HeadedSpan(_heading_at(above, start), start, end)
        for start, end in sentence_spans(text)
        if wanted in text[start:end].casefold() and not _is_heading(above, start)
    )


def find_section(text: str, name: str) -> HeadedSpan | None:
    """Return the section of this name with its subsections; None if it does not exist."""
    headings = tuple(find_headings(text))
    wanted = name.strip().casefold()
    at = next((heading for heading in headings if heading.text.strip().casefold() == wanted), None)
    if at is None:
        return None
    after = (
        heading.start
        for heading in headings
        if heading.start > at.start and heading.level <= at.level
    )
    return HeadedSpan(at.text, at.end, next(after, len(text)))


def list_section_names(text: str) -> tuple[str, ...]:
    """Return the headings of a text, in order."""
    return tuple(heading.text for heading in find_headings(text))


def _heading_at(headings: tuple[Heading, ...], start: int) -> str:
    return next((heading.text for heading in reversed(headings) if heading.end <= start), "")


def _is_heading(headings: tuple[Heading, ...], start: int) -> bool:
    return any(heading.start <= start < heading.end for heading in headings)
