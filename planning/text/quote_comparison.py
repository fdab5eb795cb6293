"""Compare a quote with the present text of its document: unchanged, moved, changed or gone."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from holdfast.models.calls.tool_signatures import SourcePassage
from holdfast.models.evidence.source_checks import SourceDrift
from holdfast.models.text.sentences import sentence_spans
from holdfast.models.text.words import word_similarity, words_of

_LARGEST_GAP = 1_000
_LONGEST_SHOWN = 600


class QuoteDrift(NamedTuple):
    """The state of a quote in the present text of its document."""

    verdict: SourceDrift
    note: str = ""
    nearest: str = ""


def find_quote_drift(quote: str, start: int, document: Sequence[SourcePassage]) -> QuoteDrift:
    """Compare a quote, once at character `start`, with the present text of the document.

    White space is folded: a document with other line breaks is unchanged. A document without text
    is gone.
    """
    if not any(passage.text.strip() for passage in document):
        return QuoteDrift(SourceDrift.GONE, "nothing stands at this address any more")
    pattern = re.compile(r"\s+".join(re.escape(word) for word in quote.split()))
    # Also each passage alone: passages of a search may all start at 0, and overlap.
    texts = [(passage.start, passage.text) for passage in document] + [_join_passages(document)]
    places = [
        (base + match.start(), base + match.end())
        for base, text in texts
        for match in pattern.finditer(text)
    ]
    if any(place[0] == start for place in places):
        return QuoteDrift(SourceDrift.UNCHANGED)
    if places:
        return QuoteDrift(
            SourceDrift.MOVED, f"the words stand at characters {places[0][0]}-{places[0][1]}"
        )
    return QuoteDrift(
        SourceDrift.CHANGED, "the words stand nowhere in it", _nearest_sentence(quote, document)
    )


def _join_passages(document: Sequence[SourcePassage]) -> tuple[int, str]:
    """Return the start of the first passage, and the joined text: a quote may cross a border."""
    ordered = sorted(document, key=lambda passage: passage.start)
    first = ordered[0].start
    text = ""
    for passage in ordered:
        gap = passage.start - first - len(text)
        text += "\n" * min(gap, _LARGEST_GAP) + passage.text[max(0, -gap) :]
    return first, text


def _nearest_sentence(quote: str, document: Sequence[SourcePassage]) -> str:
    """Return the sentence that shares most words with the quote; empty if none shares any."""
    wanted = words_of(quote)
    best, score = "", 0.0
    for passage in document:
        for start, end in sentence_spans(passage.text):
            sentence = passage.text[start:end]
            similarity = word_similarity(wanted, words_of(sentence))
            if similarity > score:
                best, score = sentence, similarity
    return " ".join(best.split())[:_LONGEST_SHOWN]
