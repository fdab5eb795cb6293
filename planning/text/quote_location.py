"""Locate a quote verbatim in the passages that were read, for a citation to point at."""

import re
from collections.abc import Iterable, Sequence, Set

from pydantic import JsonValue

from holdfast.models.calls.tool_signatures import SourcePassage
from holdfast.models.evidence.evidence import LocatedQuote
from holdfast.models.text.sentences import sentence_spans, trimmed_span
from holdfast.models.text.words import words_of

_MIN_LETTERS = 3
"""Letters of a word that counts."""
_MAX_SENTENCE = 600
_MAX_SEARCHED = 20_000
"""Characters of a passage that are searched for its best sentence."""


def locate_quote(
    entity: str, value: JsonValue, quote: str, passages: Sequence[SourcePassage]
) -> LocatedQuote | None:
    """Return the place of the quote, or of the sentence that contains the value.

    White space is folded for the comparison, since models change line breaks; the returned text
    is always the source's own.
    """
    for passage in passages:
        span = _span(quote, passage.text)
        if span:
            return LocatedQuote(entity=entity, passage=passage, start=span[0], end=span[1])
    return _locate_value(entity, value, passages)


def best_sentences(
    entity: str, about: str, passages: Sequence[SourcePassage], limit: int
) -> list[LocatedQuote]:
    """Return, for each of the first passages, the sentence that shares most words with `about`."""
    wanted = words_of(about, _MIN_LETTERS)
    quotes = []
    for passage in passages[:limit]:
        span = _best_span(passage.text[:_MAX_SEARCHED], wanted)
        if span:
            quotes.append(LocatedQuote(entity=entity, passage=passage, start=span[0], end=span[1]))
    return quotes


def _best_span(text: str, wanted: Set[str]) -> tuple[int, int] | None:
    """The sentence that shares most words with the wanted ones; the first of equals."""
    return max(
        sentence_spans(text),
        key=lambda span: len(wanted & words_of(text[slice(*span)], _MIN_LETTERS)),
        default=None,
    )


def _locate_value(
    entity: str, value: JsonValue, passages: Iterable[SourcePassage]
) -> LocatedQuote | None:
    text = _text_of_value(value)
    if not text:
        return None
    pattern = re.compile(rf"(?<!\w){re.escape(text)}(?!\w)", re.IGNORECASE)
    for passage in passages:
        match = pattern.search(passage.text)
        if match:
            start, end = _sentence_around(passage.text, *match.span())
            return LocatedQuote(entity=entity, passage=passage, start=start, end=end)
    return None


def _text_of_value(value: JsonValue) -> str:
    """The value as it would stand in a text; empty for what does not stand in texts."""
    if isinstance(value, list) and value:
        return _text_of_value(value[0])
    if isinstance(value, bool) or value is None or isinstance(value, dict | list):
        return ""
    return str(value).strip()


def _span(quote: str, text: str) -> tuple[int, int] | None:
    wanted = quote.strip().strip("\"'“”‘’ ")
    if not wanted or len(wanted) > 4 * _MAX_SENTENCE:
        return None
    at = text.find(wanted)
    if at >= 0:
        return at, at + len(wanted)
    pattern = r"\s+".join(re.escape(word) for word in wanted.split())
    match = re.search(pattern, text)
    return match.span() if match else None


def _sentence_around(text: str, start: int, end: int) -> tuple[int, int]:
    for left, right in sentence_spans(text):
        if left <= start < right:
            span = trimmed_span(text, left, max(right, end))
            return span if span[1] - span[0] <= _MAX_SENTENCE else (start, end)
    return start, end
