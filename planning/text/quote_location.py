"""Locate a quote verbatim in the passages that were read, for a citation to point at."""

import json
import re
from collections.abc import Iterable, Sequence, Set
from itertools import islice

from pydantic import JsonValue

from holdfast.models.calls.tool_signatures import SourcePassage
from holdfast.models.evidence.evidence import LocatedQuote
from holdfast.models.text.sentences import sentence_spans, trimmed_span
from holdfast.models.text.words import words_of

_MIN_LETTERS = 3
"""Letters of a word that counts."""
_MIN_PART = 2
"""Signs of a word or number of a value that a further quote may show."""
_MAX_SENTENCE = 600
_MAX_ELEMENTS = 40
_MAX_MATCHES = 20
"""Places of a value in one passage that are compared with a quote."""
_MAX_SEARCHED = 20_000
"""Characters of a passage that are searched for its best sentence."""


def locate_quote(
    entity: str, value: JsonValue, quote: str, passages: Sequence[SourcePassage]
) -> LocatedQuote | None:
    """Return the place of the quote, or of the sentence with the value that is most like it.

    White space is folded for the comparison, since models change line breaks; the returned text
    is always the source's own.
    """
    for passage in passages:
        span = _span(quote, passage.text)
        if span:
            return LocatedQuote(entity=entity, passage=passage, start=span[0], end=span[1])
    return _locate_value(entity, _first_element(value), quote, passages)


def locate_values(
    entity: str,
    value: JsonValue,
    quote: str,
    passages: Sequence[SourcePassage],
    about: str = "",
    *,
    more: Sequence[str] = (),
) -> tuple[LocatedQuote, ...]:
    """Return the places that show the value: of its quotes, and of each element of a list.

    `more` are further quotes, each of which shows a part of the value that the others leave out, or
    stands in another document, which corroborates the value. One that stands nowhere word for word,
    or that shows no part of the value, is left out.

    Models seldom quote every element of a list. Of the sentences with an element that no quote
    has, the one counts that shares most words with the quote and `about`.
    """
    first = locate_quote(entity, value, quote, passages)
    places = [] if first is None else [first]
    places += _further_places(entity, value, more[:_MAX_ELEMENTS], passages, places)
    for each in value[:_MAX_ELEMENTS] if isinstance(value, list) else ():
        shown = [place.passage.model_copy(update={"text": place.quote}) for place in places]
        if _locate_value(entity, each, "", shown) is None:
            place = _locate_value(entity, each, f"{quote} {about}", passages)
            places += [] if place is None else [place]
    return tuple(places)


def _further_places(
    entity: str,
    value: JsonValue,
    quotes: Sequence[str],
    passages: Sequence[SourcePassage],
    places: Sequence[LocatedQuote],
) -> list[LocatedQuote]:
    """Return the places of quotes that show words of the value which no place before shows.

    In a document that no place before is in, words that are shown already count as well.
    """
    wanted = left = words_of(json.dumps(value, ensure_ascii=False), _MIN_PART)
    for place in places:
        left = left - words_of(place.quote, _MIN_PART)
    documents = {place.passage.address for place in places}
    further = []
    for quote in quotes:
        found = locate_quote(entity, None, quote, passages)
        if found is None:
            continue
        needed = left if found.passage.address in documents else wanted
        if needed & words_of(found.quote, _MIN_PART):
            left = left - words_of(found.quote, _MIN_PART)
            documents.add(found.passage.address)
            further.append(found)
    return further


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


def covering_sentences(
    entity: str, about: str, passages: Sequence[SourcePassage], limit: int
) -> list[LocatedQuote]:
    """Return the best sentence of each passage, and further ones for words that no quote has yet.

    A question about two rows of a table gets both of them.
    """
    left = words_of(about, _MIN_LETTERS)
    quotes = []
    for each in best_sentences(entity, about, passages, limit):
        quotes.append(each)
        left = left - words_of(each.quote, _MIN_LETTERS)
        while span := _best_span(each.passage.text[:_MAX_SEARCHED], left):
            shown = left & words_of(each.passage.text[slice(*span)], _MIN_LETTERS)
            if not shown:
                break
            left = left - shown
            quotes.append(each.model_copy(update={"start": span[0], "end": span[1]}))
    return quotes


def _best_span(text: str, wanted: Set[str]) -> tuple[int, int] | None:
    """The sentence that shares most words with the wanted ones; the first of equals."""
    return max(
        sentence_spans(text),
        key=lambda span: len(wanted & words_of(text[slice(*span)], _MIN_LETTERS)),
        default=None,
    )


def _locate_value(
    entity: str, value: JsonValue, quote: str, passages: Iterable[SourcePassage]
) -> LocatedQuote | None:
    """Return the sentence with the value that shares most words with the quote.

    A document whose title names the value goes before documents that only mention it.
    """
    text = _text_of_value(value)
    if not text:
        return None
    pattern = re.compile(rf"(?<!\w){re.escape(text)}(?!\w)", re.IGNORECASE)
    wanted = words_of(quote, _MIN_LETTERS)
    places = [
        LocatedQuote(entity=entity, passage=passage, start=start, end=end)
        for passage in passages
        for match in islice(pattern.finditer(passage.text), _MAX_MATCHES)
        for start, end in [_sentence_around(passage.text, *match.span())]
    ]

    def likeness(place: LocatedQuote) -> tuple[bool, int]:
        shared = wanted & words_of(place.quote, _MIN_LETTERS)
        return bool(pattern.search(place.passage.title)), len(shared)

    return max(places, key=likeness, default=None)


def _first_element(value: JsonValue) -> JsonValue:
    while isinstance(value, list):
        value = value[0] if value else None
    return value


def _text_of_value(value: JsonValue) -> str:
    """The value as it would stand in a text; empty for what does not stand in texts."""
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
