"""Cuts a page that was read into passages, as many as one answer should hold."""

from collections.abc import Iterator
from typing import NamedTuple

from tools.passages import Passage, split_passages

MOST_CHARS = 24_000
"""Characters of one answer; the rest of the page is the next one."""
WHOLE = 700_000
"""Characters of an answer that should hold all of a page; an answer that is longer is cut."""


class Part(NamedTuple):
    """Passages in order, and where the next part of the page starts; none: this is its end."""

    passages: tuple[Passage, ...]
    next_start: int | None


def part_of(text: str, start: int, most_chars: int = MOST_CHARS) -> Part:
    """The part of the text that starts with the passage at, or next after, `start`."""
    kept: list[Passage] = []
    room = most_chars
    for passage in _from(text, start):
        room -= passage.end - passage.start
        if kept and room < 0:
            return Part(tuple(kept), passage.start)
        kept.append(passage)
    return Part(tuple(kept), None)


def _from(text: str, start: int) -> Iterator[Passage]:
    return (passage for passage in split_passages(text) if passage.end > start)
