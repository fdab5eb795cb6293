"""Split a text into passages of about 120 words at headings, paragraphs and sentences."""

import re
from collections.abc import Iterator
from typing import NamedTuple

TARGET_CHARS = 800
MAX_CHARS = 1500
_SMALL_CHARS = 300
_MAX_HEADING = 300

# Every pattern is bounded or possessive, so that no text takes quadratic time.
_MARKS = re.compile(
    r"^ {0,3}(?P<fence>```|~~~)"
    r"|^ {0,3}(?P<hashes>#{1,6})[ \t]++(?P<text>[^\n]{1,300})$"
    # A single line, underlined with === or ---.
    r"|(?<![^\n]\n)^(?P<underlined>[^\s#>|-][^\n]{0,199})\n(?P<line>=|-)(?P=line){2,}+[ \t]*+$",
    re.MULTILINE,
)
_PARAGRAPH = re.compile(r"\n[ \t]*\n")
_SENTENCE = re.compile(r"[.!?…][\"'”’)\]]*+\s++|[。！？]")
_LINE = re.compile(r"\n")
_WORD = re.compile(r"\s+")
_ANYWHERE = re.compile(rf"[\s\S]{{{TARGET_CHARS}}}")

_Span = tuple[int, int]


class Heading(NamedTuple):
    """A heading with its level from 1 and the offsets of its line or lines."""

    level: int
    text: str
    start: int
    end: int


class PassageSpan(NamedTuple):
    """A span of a text, `text[start:end]`, with its heading path ("Guide > Setup")."""

    heading: str
    start: int
    end: int


def split_passages(text: str) -> tuple[PassageSpan, ...]:
    """Return the passages in order; together they contain the text without headings.

    A text with headings only is split like plain text, so that search finds it.
    """
    passages = tuple(
        PassageSpan(heading, *span)
        for heading, start, end in _sections(text)
        for span in _packed(text, start, end)
    )
    return passages or tuple(PassageSpan("", *span) for span in _packed(text, 0, len(text)))


def find_headings(text: str) -> Iterator[Heading]:
    """Yield the Markdown headings outside fenced code, in order."""
    fence = ""
    for mark in _MARKS.finditer(text):
        if mark["fence"]:
            fence = "" if mark["fence"] == fence else fence or mark["fence"]
        elif not fence:
            words = (mark["text"] or mark["underlined"]).strip().rstrip("#").strip()
            if words:
                yield Heading(_level(mark), words, mark.start(), mark.end())


def _level(mark: re.Match[str]) -> int:
    if mark["hashes"]:
        return len(mark["hashes"])
    return 1 if mark["line"] == "=" else 2


def _sections(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield each span between two headings, with its heading path."""
    path: tuple[Heading, ...] = ()
    start = 0
    for heading in find_headings(text):
        yield _name(path), start, heading.start
        path = (*(above for above in path if above.level < heading.level), heading)
        start = heading.end
    yield _name(path), start, len(text)


def _name(path: tuple[Heading, ...]) -> str:
    return " > ".join(heading.text for heading in path)[:_MAX_HEADING]


def _packed(text: str, start: int, end: int) -> list[_Span]:
    """Join neighbouring units up to the target; a small unit may exceed the target."""
    spans: list[_Span] = []
    for unit in _units(text, start, end):
        if spans and _belongs(spans[-1], unit):
            spans[-1] = (spans[-1][0], unit[1])
        else:
            spans.append(unit)
    if len(spans) > 1 and spans[-1][1] - spans[-1][0] < _SMALL_CHARS:
        spans[-2:] = _joined(spans[-2], spans[-1])
    return spans


def _belongs(span: _Span, unit: _Span) -> bool:
    is_small = span[1] - span[0] < _SMALL_CHARS
    return unit[1] - span[0] <= (MAX_CHARS if is_small else TARGET_CHARS)


def _joined(span: _Span, tail: _Span) -> list[_Span]:
    return [(span[0], tail[1])] if tail[1] - span[0] <= MAX_CHARS else [span, tail]


def _units(text: str, start: int, end: int) -> Iterator[_Span]:
    """Yield paragraphs; split long ones at sentences, then lines, then words, then anywhere."""
    for piece in _pieces(_PARAGRAPH, text, start, end):
        yield from _smaller(text, *piece, borders=(_SENTENCE, _LINE, _WORD, _ANYWHERE))


def _smaller(
    text: str, start: int, end: int, *, borders: tuple[re.Pattern[str], ...]
) -> Iterator[_Span]:
    if end - start <= MAX_CHARS:
        yield start, end
        return
    for piece in _pieces(borders[0], text, start, end):
        yield from _smaller(text, *piece, borders=borders[1:])


def _pieces(border: re.Pattern[str], text: str, start: int, end: int) -> Iterator[_Span]:
    """Yield the pieces between the borders, without surrounding blanks."""
    cuts = [cut.end() for cut in border.finditer(text, start, end)]
    for left, right in zip([start, *cuts], [*cuts, end], strict=True):
        piece = text[left:right]
        if piece and not piece.isspace():
            blank_before = len(piece) - len(piece.lstrip())
            yield left + blank_before, left + len(piece.rstrip())
