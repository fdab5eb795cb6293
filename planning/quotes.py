"""Finding a quote in what was read, letter by letter, so that a citation can point at it."""

import re
from collections.abc import Iterable, Sequence

from pydantic import JsonValue

from models.evidence import Located
from models.tools import ReadPassage

_SENTENCE = re.compile(r"[^.!?\n]+(?:[.!?](?!\s|$)[^.!?\n]*)*[.!?]?")
_WORD = re.compile(r"\w{3,}")
_LONGEST = 600


def locate(
    entity: str, value: JsonValue, quote: str, passages: Sequence[ReadPassage]
) -> Located | None:
    """Where the quote stands; failing that, the sentence in which the value stands.

    Space is folded when comparing, since models re-wrap what they copy; what is located is
    always the source's own text.
    """
    for passage in passages:
        span = _span(quote, passage.text)
        if span:
            return Located(entity=entity, passage=passage, start=span[0], end=span[1])
    return _by_value(entity, value, passages)


def best_sentences(
    entity: str, about: str, passages: Sequence[ReadPassage], limit: int
) -> list[Located]:
    """For each of the first passages the sentence that shares most words with `about`."""
    wanted = set(_WORD.findall(about.lower()))
    found = []
    for passage in passages[:limit]:
        spans = [match.span() for match in _SENTENCE.finditer(passage.text[:20_000])]
        spans = [_trimmed(passage.text, *span) for span in spans]
        spans = [span for span in spans if span[1] > span[0]]
        if spans:
            start, end = max(spans, key=lambda span: _shared(passage.text[slice(*span)], wanted))
            found.append(Located(entity=entity, passage=passage, start=start, end=end))
    return found


def _shared(sentence: str, wanted: set[str]) -> int:
    return len(wanted & set(_WORD.findall(sentence.lower())))


def _by_value(entity: str, value: JsonValue, passages: Iterable[ReadPassage]) -> Located | None:
    text = _plain(value)
    if not text:
        return None
    pattern = re.compile(rf"(?<!\w){re.escape(text)}(?!\w)", re.IGNORECASE)
    for passage in passages:
        match = pattern.search(passage.text)
        if match:
            start, end = _sentence_around(passage.text, *match.span())
            return Located(entity=entity, passage=passage, start=start, end=end)
    return None


def _plain(value: JsonValue) -> str:
    """The value as it would stand in a text; empty for what does not stand in texts."""
    if isinstance(value, list) and value:
        return _plain(value[0])
    if isinstance(value, bool) or value is None or isinstance(value, dict | list):
        return ""
    return str(value).strip()


def _span(quote: str, text: str) -> tuple[int, int] | None:
    wanted = quote.strip().strip("\"'“”‘’ ")
    if not wanted or len(wanted) > 4 * _LONGEST:
        return None
    at = text.find(wanted)
    if at >= 0:
        return at, at + len(wanted)
    pattern = r"\s+".join(re.escape(word) for word in wanted.split())
    match = re.search(pattern, text)
    return match.span() if match else None


def _sentence_around(text: str, start: int, end: int) -> tuple[int, int]:
    for match in _SENTENCE.finditer(text):
        if match.start() <= start < match.end():
            left, right = _trimmed(text, match.start(), max(match.end(), end))
            if right - left <= _LONGEST:
                return left, right
            break
    return start, end


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    piece = text[start:end]
    left = len(piece) - len(piece.lstrip())
    right = len(piece.rstrip())
    return start + left, start + max(left, right)
