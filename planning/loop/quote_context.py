"""Widen quotes to what a reader needs: sentences, table rows with header, list items with lead.

A table cell without its row's name, or "Born in Mandaluyong" without its subject, shows nothing by
itself: a judge refused true sentences for that.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple

from holdfast.models.text.sentences import sentence_spans

_MAX_CHARACTERS = 800
_LIST_ITEM = re.compile(r"[ \t]*(?:[-*•]|\d{1,3}[.)])[ \t]")
_RULE = re.compile(r"[\s|:-]+")
"""The line under the header of a Markdown table."""
_WRAP = re.compile(r"(?<=[^\n|])\n(?=[^\s|#>*•-])")
"""A line break inside a paragraph; a space in its place keeps all offsets."""


class _Widened(NamedTuple):
    """A part of a text around a quote, and the line that leads it."""

    start: int
    end: int
    lead: str = ""


def widened_quotes(text: str, quotes: Iterable[tuple[int, int]]) -> str:
    """Return the text around the quotes `text[start:end]`, in its order, and nothing twice.

    Each quote gets at most 800 characters more: the sentence before its own, the header of its
    table, or the line that leads its list.
    """
    shown: list[_Widened] = []
    for part in sorted(_widened(text, start, end) for start, end in quotes):
        last = shown[-1] if shown else None
        if last is not None and last.lead == part.lead and part.start < last.end:
            shown[-1] = last._replace(end=max(last.end, part.end))
        else:
            shown.append(part)
    lines = [line for part in shown for line in (part.lead, _prose(text)[part.start : part.end])]
    return "\n".join(dict.fromkeys(line.strip() for line in lines if line.strip()))


def _widened(text: str, start: int, end: int) -> _Widened:
    first, last = _line_span(text, start, end)
    if _is_row(text[first:last]):
        return _line(text, first, last, _header(text, first))
    if _LIST_ITEM.match(text[first:last]):
        return _line(text, first, last, _lead(text, first))
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
    """Return the header of the table that the row at `first` is in.

    A passage may begin inside a table: there the first line of a Markdown table is no header.
    """
    rows: list[str] = []
    for line in reversed(text[:first].splitlines()):
        if not _is_row(line):
            break
        rows.insert(0, line)
    is_markdown = bool(rows) and "|" in rows[0]
    if is_markdown and not (len(rows) > 1 and _RULE.fullmatch(rows[1])):
        return ""
    return rows[0] if rows else ""


def _lead(text: str, first: int) -> str:
    """Return the last line before the list that the item at `first` is in."""
    for line in reversed(text[:first].splitlines()):
        if line.strip() and not _LIST_ITEM.match(line):
            return line
    return ""


def _line(text: str, first: int, last: int, lead: str) -> _Widened:
    start = first + len(text[first:last]) - len(text[first:last].lstrip())
    return _Widened(start, min(last, start + _MAX_CHARACTERS), lead.strip()[:_MAX_CHARACTERS])
