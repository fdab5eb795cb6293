"""Widen quotes to what a reader needs: sentences, table rows with header, list items with lead.

A table cell without its row's name, "Born in Mandaluyong" without its subject, or a row of figures
without its unit shows nothing by itself: a judge refused true sentences for that.
"""

import re
from collections.abc import Iterable, Sequence
from itertools import takewhile
from typing import NamedTuple

from holdfast.models.text.sentences import sentence_spans, trimmed_span

_MAX_CHARACTERS = 800
_MAX_CAPTION = 300
_LIST_ITEM = re.compile(r"[ \t]*(?:[-*•]|\d{1,3}[.)])[ \t]")
_RULE = re.compile(r"[\s|:-]+")
"""The line under the header of a Markdown table."""
_WRAP = re.compile(r"(?<=[^\n|])\n(?=[^\s|#>*•-])")
"""A line break inside a paragraph; a space in its place keeps all offsets."""


_WRAPPED_ITEM = re.compile(
    rf"^{_LIST_ITEM.pattern}.*(?:\n[ \t]+(?!{_LIST_ITEM.pattern})[^\s|#>].*)+", re.MULTILINE
)
"""A list item whose text goes on in indented lines."""
_SPACES = re.compile(r"[ \t]{2,}")


class _Widened(NamedTuple):
    """A part of a text around a quote, and the lines that lead it."""

    start: int
    end: int
    lead: str = ""


def widened_quotes(text: str, quotes: Iterable[tuple[int, int]]) -> str:
    """Return the text around the quotes `text[start:end]`, in its order, and nothing twice.

    Each quote gets at most 800 characters more: the sentence before its own, the header of its
    table with the sentence that leads the table, or the line that leads its list.
    """
    text = _WRAPPED_ITEM.sub(_unwrapped, text)
    shown: list[_Widened] = []
    for part in sorted(_widened(text, start, end) for start, end in quotes):
        last = shown[-1] if shown else None
        if last is not None and last.lead == part.lead and part.start < last.end:
            shown[-1] = last._replace(end=max(last.end, part.end))
        else:
            shown.append(part)
    lines = [line for part in shown for line in (part.lead, _prose(text)[part.start : part.end])]
    clean = (_SPACES.sub(" ", line).strip() for line in lines)
    return "\n".join(dict.fromkeys(line for line in clean if line))


def _unwrapped(item: re.Match[str]) -> str:
    """The item in one line; a space in the place of a line break keeps all offsets."""
    return item.group().replace("\n", " ")


def _widened(text: str, start: int, end: int) -> _Widened:
    first, last = _line_span(text, start, end)
    if _is_row(text[first:last]):
        return _line(text, (start, end), (first, last), _header(text, first))
    if _LIST_ITEM.match(text[first:last]):
        return _line(text, (start, end), (first, last), _lead(text, first))
    prose = _prose(text)
    spans = [span for span in sentence_spans(prose) if span[0] < end and span[1] > start]
    if not spans:
        return _Widened(start, end)
    before = sentence_spans(prose[: spans[0][0]])[-1:]
    left = before[0][0] if before else spans[0][0]
    room = _MAX_CHARACTERS // 2
    return _Widened(max(left, start - room), min(spans[-1][1], end + room))


def _prose(text: str) -> str:
    """Return the text without line breaks inside paragraphs; all offsets stay."""
    return _WRAP.sub(" ", text)


def _line_span(text: str, start: int, end: int) -> tuple[int, int]:
    first = text.rfind("\n", 0, start) + 1
    last = text.find("\n", end)
    return first, len(text) if last < 0 else last


def _is_row(line: str) -> bool:
    return line.count("|") >= 2 or line.count("\t") >= 2


def _header(text: str, first: int) -> str:
    """Return the header of the table that the row at `first` is in, after its caption.

    A passage may begin inside a table: there the first line of a Markdown table is no header.
    """
    before = text[:first].splitlines()
    rows = list(takewhile(_is_row, reversed(before)))[::-1]
    is_markdown = bool(rows) and "|" in rows[0]
    if not rows or (is_markdown and not (len(rows) > 1 and _RULE.fullmatch(rows[1]))):
        return ""
    return f"{_caption(before[: -len(rows)])}\n{rows[0]}"


def _caption(before: Sequence[str]) -> str:
    """Return the last sentence before a table, which may name its unit; empty if it is long."""
    prose = _prose("\n".join(before)).rstrip()
    start, end = next(reversed(sentence_spans(prose)), (0, 0))
    return prose[start:end] if end - start <= _MAX_CAPTION else ""


def _lead(text: str, first: int) -> str:
    """Return the last line before the list that the item at `first` is in."""
    for line in reversed(text[:first].splitlines()):
        if line.strip() and not _LIST_ITEM.match(line):
            return line
    return ""


def _line(text: str, quote: tuple[int, int], line: tuple[int, int], lead: str) -> _Widened:
    """Return the line, cut around the quote if it is long."""
    room = _MAX_CHARACTERS // 2
    start, end = trimmed_span(text, *line)
    if end - start > _MAX_CHARACTERS:
        start, end = max(start, quote[0] - room), min(end, quote[1] + room)
    return _Widened(start, end, lead.strip()[:_MAX_CHARACTERS])
