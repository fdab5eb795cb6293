"""Looks a word up in a text, sentence by sentence; and finds a section by its heading."""

import re
from itertools import pairwise
from typing import NamedTuple

from tools.passages import Heading, headings

_SENTENCE_END = re.compile(r"(?<=[.!?…])[\"'”’)\]*_]*\s+|\n+")


class Stretch(NamedTuple):
    """A piece of a text, `text[start:end]`, below the heading that stands nearest above it."""

    heading: str
    start: int
    end: int


def sentences_with(text: str, term: str) -> tuple[Stretch, ...]:
    """The sentences and lines that hold the term, in the order of the text; letters' case aside."""
    wanted = term.casefold()
    above = tuple(headings(text))
    return tuple(
        Stretch(_heading_at(above, start), start, end)
        for start, end in _sentences(text)
        if wanted in text[start:end].casefold() and not _is_heading(above, start)
    )


def section(text: str, name: str) -> Stretch | None:
    """What stands below the heading of that name, subsections too; none if there is none."""
    found = tuple(headings(text))
    wanted = name.strip().casefold()
    at = next((each for each in found if each.text.strip().casefold() == wanted), None)
    if at is None:
        return None
    after = (each.start for each in found if each.start > at.start and each.level <= at.level)
    return Stretch(at.text, at.end, next(after, len(text)))


def section_names(text: str) -> tuple[str, ...]:
    """The headings of a text, from top to bottom."""
    return tuple(each.text for each in headings(text))


def _sentences(text: str) -> list[tuple[int, int]]:
    borders = [(0, 0), *(end.span() for end in _SENTENCE_END.finditer(text)), (len(text), 0)]
    pieces = ((left[1], right[0]) for left, right in pairwise(borders))
    return [(start, end) for start, end in pieces if text[start:end].strip()]


def _heading_at(found: tuple[Heading, ...], start: int) -> str:
    return next((each.text for each in reversed(found) if each.end <= start), "")


def _is_heading(found: tuple[Heading, ...], start: int) -> bool:
    return any(each.start <= start < each.end for each in found)
