"""Recognise a name in its other forms: without accents, as initials, as the adjective of a land.

`Québec` is Quebec, `ASEE` the American Society for Engineering Education, `Brazilian` from Brazil.
Similar names stay apart: Austria is not Australia.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from holdfast.planning.reports.number_spellings import number_of_word, numbers_in, roman_numbers

_WORD = re.compile(r"\w+(?:['’-]\w+)*")
_POSSESSIVE = re.compile(r"['’]s?$")
_PLAIN = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "æ": "ae", "œ": "oe", "ı": "i"})
_SMALL_LINE = "a and da de del der di du for in la le of on the to van von"
SMALL_WORDS = frozenset(_SMALL_LINE.split())
_MOST_INITIALS = 8
_SHORTEST_BASE = 4
_KEPT_TEXTS = 64
"""Texts whose names are kept: the passages that neighbouring sentences of a report cite."""
_ENDINGS = (
    *(("", each) for each in ("n", "an", "ian", "ese", "i", "ish", "man", "men")),
    *(("a", each) for each in ("an", "ans", "ian", "ese", "ish")),
    *(("ia", each) for each in ("ian", "ians", "o")),
    *(("y", each) for each in ("ian", "ians", "an", "")),
    ("o", "an"),
    ("e", "an"),
    ("ain", "ish"),
    ("land", "ish"),
    ("en", "ish"),
    ("an", "ans"),
    ("ian", "ians"),
    ("o", "ia"),
)
"""A land or group, and what is called after it: two endings of the same base."""
_IRREGULAR = (
    "france french frenchman frenchmen",
    "spain spanish spaniard",
    "netherlands holland dutch dutchman",
    "denmark danish dane",
    "norway norwegian",
    "greece greek",
    "wales welsh welshman",
    "switzerland swiss",
    "turkey turkish turk",
    "ireland irish irishman",
    "scotland scottish scot",
    "england english englishman",
    "germany german",
    "poland polish pole",
    "iceland icelandic",
    "usa us american",
    "uk british",
)
_RELATED = {word: frozenset(line.split()) for line in _IRREGULAR for word in line.split()}
_SHORT_FORMS = {"us": "united states", "usa": "united states", "uk": "united kingdom"}


@dataclass(frozen=True)
class NamedText:
    """What a text names: its words, the initials of its names, and its numbers."""

    plain: str
    words: frozenset[str]
    initials: frozenset[str]
    numbers: frozenset[str]
    """Also numbers in Roman numerals."""


@lru_cache(maxsize=_KEPT_TEXTS)
def named_text(text: str) -> NamedText:
    """Return what the text names; a report asks for the same texts with each of its sentences."""
    plain = plain_text(text)
    return NamedText(
        plain=plain,
        words=_words(plain),
        initials=frozenset(_initials(text)),
        numbers=numbers_in(plain) | roman_numbers(plain),
    )


class KnownNames:
    """The names that some texts contain, in any of their forms."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._texts = tuple(map(named_text, texts))

    def has(self, name: str) -> bool:
        """True if the texts contain the name or another form of it."""
        word = _POSSESSIVE.sub("", plain_text(name))
        parts = [part for part in re.split(r"['’-]", word) if part]
        number = number_of_word(word)
        return (
            self._has_word(word)
            or all(self._has_word(part) for part in parts)
            or (name.isupper() and self._has_initials(word))
            or any(number in text.numbers for text in self._texts)
        )

    def _has_word(self, word: str) -> bool:
        forms = {word, *_RELATED.get(word, ()), *_related_forms(word)}
        return any(not text.words.isdisjoint(forms) for text in self._texts)

    def _has_initials(self, word: str) -> bool:
        long_form = _SHORT_FORMS.get(word, "\0")
        return any(word in text.initials or long_form in text.plain for text in self._texts)


def plain_text(text: str) -> str:
    """Return the text in lower case, with single spaces and without accents."""
    parts = unicodedata.normalize("NFKD", " ".join(text.split()).casefold())
    return "".join(sign for sign in parts if not unicodedata.combining(sign)).translate(_PLAIN)


def _words(text: str) -> frozenset[str]:
    whole = {_POSSESSIVE.sub("", match.group()) for match in _WORD.finditer(text)}
    return frozenset(whole | {part for word in whole for part in re.split(r"['’-]", word)})


def _related_forms(word: str) -> Iterator[str]:
    for one, other in _ENDINGS:
        for mine, its in ((one, other), (other, one)):
            base = word.removesuffix(mine) if mine else word
            if word.endswith(mine) and len(base) >= _SHORTEST_BASE:
                yield base + its


def _initials(text: str) -> Iterator[str]:
    """Yield the initials of words with capital letters that follow each other."""
    run: list[str] = []
    end = 0
    for match in _WORD.finditer(text):
        word = match.group()
        follows = text[end : match.start()].isspace()
        end = match.end()
        if word in SMALL_WORDS and follows:
            continue
        run = [*(run if follows else ()), *_capitals(word)] if word[0].isupper() else []
        run = run[-_MOST_INITIALS:]
        yield from ("".join(run[at:]).casefold() for at in range(len(run) - 1))


def _capitals(word: str) -> Iterable[str]:
    return (part[0] for part in word.split("-") if part)
