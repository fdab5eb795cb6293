"""Widen a quote to what a reader needs: its sentence, its table row with header, its list item.

A table cell without its row's name, or "Born in Mandaluyong" without its subject, shows nothing by
itself: a judge refused true sentences for that.
"""

import re

from holdfast.models.text.sentences import sentence_spans

_MAX_CHARACTERS = 800
_LIST_ITEM = re.compile(r"[ \t]*(?:[-*•]|\d{1,3}[.)])[ \t]")
_RULE = re.compile(r"[\s|:-]+")
"""The line under the header of a Markdown table."""
_WRAP = re.compile(r"(?<=[^\n|])\n(?=[^\s|#>*•-])")
"""A line break inside a paragraph; a space in its place keeps all offsets."""


def widened_quote(text: str, start: int, end: int) -> str:
    """Return the text around `text[start:end]`; at most 800 characters beyond the quote.

    A quote in a table gets the table's header, a quote in a list the line that leads the list.
    """
    first, last = _line_span(text, start, end)
    if _is_row(text[first:last]):
        return _joined(_header(text, first), text[first:last])
    if _LIST_ITEM.match(text[first:last]):
        return _joined(_lead(text, first), text[first:last])
    prose = _WRAP.sub(" ", text)
    spans = [span for span in sentence_spans(prose) if span[0] < end and span[1] > start]
    if not spans:
        return text[start:end]
    before = sentence_spans(prose[: spans[0][0]])[-1:]
    left = before[0][0] if before else spans[0][0]
    return _cut(prose, left, spans[-1][1], start, end)


def _cut(text: str, left: int, right: int, start: int, end: int) -> str:
    room = _MAX_CHARACTERS // 2
    return text[max(left, start - room) : min(right, end + room)].strip()


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


def _joined(lead: str, line: str) -> str:
    parts = [each.strip()[:_MAX_CHARACTERS] for each in (lead, line) if each.strip()]
    return "\n".join(parts)
