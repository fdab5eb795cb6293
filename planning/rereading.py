"""Whether words that were quoted from a document still stand in it, and where."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from models.checks import Drift
from models.tools import ReadPassage

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")
_WORD = re.compile(r"\w+")
_LARGEST_GAP = 1_000
_LONGEST_SHOWN = 600


class Compared(NamedTuple):
    """What became of the words."""

    verdict: Drift
    note: str = ""
    nearest: str = ""


def compared(quote: str, start: int, document: Sequence[ReadPassage]) -> Compared:
    """What became of a quote that stood at character `start` of the document.

    Space is folded: a document that is only wrapped anew says the same. A document without any text
    is gone.
    """
    if not any(passage.text.strip() for passage in document):
        return Compared(Drift.GONE, "nothing stands at this address any more")
    pattern = re.compile(r"\s+".join(re.escape(word) for word in quote.split()))
    # The passages one by one as well: those of a search may all begin at 0, and overlap.
    texts = [(passage.start, passage.text) for passage in document] + [_joined(document)]
    places = [
        (base + match.start(), base + match.end())
        for base, text in texts
        for match in pattern.finditer(text)
    ]
    if any(place[0] == start for place in places):
        return Compared(Drift.UNCHANGED)
    if places:
        return Compared(Drift.MOVED, f"the words stand at characters {places[0][0]}-{places[0][1]}")
    return Compared(Drift.CHANGED, "the words stand nowhere in it", _nearest(quote, document))


def _joined(document: Sequence[ReadPassage]) -> tuple[int, str]:
    """Where the first passage begins, and the text from there: a quote may run over a border."""
    ordered = sorted(document, key=lambda passage: passage.start)
    first = ordered[0].start
    text = ""
    for passage in ordered:
        gap = passage.start - first - len(text)
        text += "\n" * min(gap, _LARGEST_GAP) + passage.text[max(0, -gap) :]
    return first, text


def _nearest(quote: str, document: Sequence[ReadPassage]) -> str:
    """The sentence that shares most words with the quote; empty where none shares any."""
    wanted = _words(quote)
    sentences = (each for passage in document for each in _SENTENCE_END.split(passage.text))
    best, score = "", 0.0
    for sentence in sentences:
        words = _words(sentence)
        likeness = len(wanted & words) / max(len(wanted | words), 1)
        if likeness > score:
            best, score = sentence, likeness
    return " ".join(best.split())[:_LONGEST_SHOWN]


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.lower()))
