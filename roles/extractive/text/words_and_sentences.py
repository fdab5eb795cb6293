"""Split text into words and sentences, and reduce words to stems."""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

from holdfast.roles.extractive.text.english_wordlists import (
    ABBREVIATIONS,
    BEGINNINGS,
    IRREGULAR,
    LAST_OF_SENTENCE,
    STOPWORDS,
)

LONGEST_READ = 200_000
"""Characters of one text that are read: keeps a megabyte of input within a bounded time."""

LONGEST_SENTENCE = 500
"""Characters of a sentence; what is longer, such as a table, is cut."""

_WORD = re.compile(r"\w+(?:['’]\w+)*")
_SENTENCE_END = re.compile(
    r"[.!?。！？…]+[\"”’»)\]]*(?=\s|$)|(?<=[。！？])|\n\s*\n|\n(?=\s*(?:[-*#•|>]|\d+[.)]\s))"
)


class Word(NamedTuple):
    """A word as written, and where it stands."""

    text: str
    start: int
    end: int


class Span(NamedTuple):
    """A piece of a text; `text` is the text's own characters from `start` to `end`."""

    text: str
    start: int
    end: int


def words(text: str) -> list[Word]:
    """Every word of the text's readable beginning."""
    return [Word(m.group(), m.start(), m.end()) for m in _WORD.finditer(text[:LONGEST_READ])]


@lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    """The word without its grammatical ending, by simple rules."""
    low = word.lower().replace("’", "'")
    low = low[:-2] if low.endswith("'s") else low.replace("'", "")
    low = IRREGULAR.get(low, low)
    for ending, least in (("ingly", 5), ("ing", 4), ("edly", 5), ("ies", 3), ("ied", 3)):
        if low.endswith(ending) and len(low) - len(ending) >= least - 1:
            return _undouble(
                low[: -len(ending)]
                + ("y" if ending[0] == "i" and ending != "ing" and ending != "ingly" else "")
            )
    if low.endswith(("ers", "ors")) and len(low) > 5:
        low = low[:-1]  # the stem of `towers` is that of `tower`
    for ending in ("ed", "es", "er", "or", "s", "e", "ly"):
        if low.endswith(ending) and len(low) - len(ending) >= 3 and not low.endswith("ss"):
            return _undouble(low[: -len(ending)])
    return low


def _undouble(root: str) -> str:
    if len(root) > 3 and root[-1] == root[-2] and root[-1] not in "aeiouls":
        return root[:-1]
    return root[:-1] if len(root) > 4 and root.endswith("e") else root


def stems(text: str) -> list[str]:
    """The stems of the content words, in order; stopwords are left out."""
    return [stem(each.text) for each in words(text) if is_content_word(each.text)]


def is_content_word(word: str) -> bool:
    """True if the word is no stopword and no single letter."""
    low = word.lower().replace("’", "'")
    return low.removesuffix("'s") not in STOPWORDS and (len(low) > 1 or low.isdigit())


def sentences(text: str) -> list[Span]:
    """The text's sentences and list items, verbatim and without surrounding white space."""
    return list(_trimmed(text, _cut_to_length(text, _pieces(text[:LONGEST_READ]))))


def _pieces(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for found in _SENTENCE_END.finditer(text):
        if found.end() > start and not _is_abbreviation(text, start, found):
            yield start, found.end()
            start = found.end()
    yield start, len(text)


def _cut_to_length(text: str, pieces: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """The pieces, cut at a space where they are too long to quote."""
    for begin, end in pieces:
        start = begin
        while end - start > LONGEST_SENTENCE:
            middle = start + LONGEST_SENTENCE // 2
            at = max(text.rfind(mark, middle, start + LONGEST_SENTENCE) for mark in "\n;, ")
            cut = at + 1 if at > 0 else start + LONGEST_SENTENCE
            yield start, cut
            start = cut
        yield start, end


def _is_abbreviation(text: str, start: int, end: re.Match[str]) -> bool:
    if not end.group().startswith(".") or len(end.group()) > 1:
        return False
    before = text[max(start, end.start() - 12) : end.start()].rsplit(None, 1)
    last = before[-1].lower().lstrip("(\"“'") if before else ""
    if _ends_sentence_too(text, start, end.end()):
        return False
    after = text[end.end() : end.end() + 3].lstrip()
    follows_small = bool(after) and after[0].islower()
    return (
        follows_small
        or last in ABBREVIATIONS
        or (len(last) == 1 and last.isalpha())
        or ("." in last and len(last) <= 4)
    )


def _ends_sentence_too(text: str, start: int, end: int) -> bool:
    """True if the full stop of an abbreviation ends the sentence: `She lives at 4 Elm Dr. The …`.

    A name has a word of its own before its abbreviation: a title, as in `we met Dr. The`, has
    none, and one that begins the sentence is no name yet.
    """
    begins = _FIRST_WORD.match(text, end)
    if begins is None or begins.group(1).lower() not in BEGINNINGS:
        return False
    last = _LAST_WORDS.search(text[max(start, end - _LONGEST_LAST_WORDS) : end])
    return last is not None and last.group(1).lower() in LAST_OF_SENTENCE


_FIRST_WORD = re.compile(r"\s+([A-Z][a-z]*)\b")
_LAST_WORDS = re.compile(r"\s(?:[A-Z][\w'’&-]*|\d+) ([A-Z][a-z]{1,3}|[ap]\.m)\.$")
_LONGEST_LAST_WORDS = 40


def _trimmed(text: str, pieces: Iterable[tuple[int, int]]) -> Iterator[Span]:
    for start, end in pieces:
        piece = text[start:end]
        left = start + len(piece) - len(piece.lstrip())
        right = end - len(piece) + len(piece.rstrip())
        if right > left:
            yield Span(text[left:right], left, right)
