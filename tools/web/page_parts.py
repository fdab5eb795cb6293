"""Divide the text of a page into parts that fit into one answer."""

from collections.abc import Iterator
from typing import NamedTuple

from holdfast.tools.documents.passage_splitter import PassageSpan, split_passages

MAX_PART_CHARS = 24_000
"""Characters of one answer; the next part of the page has the rest."""
WHOLE_PAGE_CHARS = 700_000
"""Characters of an answer that should contain a whole page; a longer page is cut."""


class PagePart(NamedTuple):
    """Passages in order, and the start of the next part; None at the end of the page."""

    passages: tuple[PassageSpan, ...]
    next_start: int | None


def page_part(text: str, start: int, most_chars: int = MAX_PART_CHARS) -> PagePart:
    """Return the part of the text from the first passage at or after `start`."""
    kept: list[PassageSpan] = []
    room = most_chars
    for passage in _from(text, start):
        room -= passage.end - passage.start
        if kept and room < 0:
            return PagePart(tuple(kept), passage.start)
        kept.append(passage)
    return PagePart(tuple(kept), None)


def _from(text: str, start: int) -> Iterator[PassageSpan]:
    return (passage for passage in split_passages(text) if passage.end > start)
