"""Recognise a name whose quote has only its short form: `the Board` for the Board of Lights.

A short form stands for a full name if the document introduces the full name, there or before, and
has no other name that would be shortened in the same way.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from holdfast.planning.reports.name_forms import SMALL_WORDS, plain_text

_WORD = re.compile(r"\w+(?:['’-]\w+)*")
_POSSESSIVE = re.compile(r"['’]s?$")
_ARTICLES = frozenset(("the", "this", "that"))
_OPENERS = (
    SMALL_WORDS
    | _ARTICLES
    | frozenset(["when", "while", "where", "after", "before", "since", "until", "as"])
)
_LEAST_WORDS = 2
_LONGEST_NAME = 12

Name = tuple[str, ...]
"""The words of a name in lower case, with the small words between them."""


def introduced_names(sentence: str, quote: str, document: Iterable[str]) -> list[str]:
    """Return the full names of the sentence whose short form the quote has.

    `document` has the texts of the quote's document up to the quote.
    """
    known = {name for text in document for name in _names(text)}
    short = set(_short_forms(quote))
    return [
        " ".join(full)
        for full in dict.fromkeys(_names(sentence))
        if len(full) >= _LEAST_WORDS
        and any(_holds(name, full) for name in known)
        and any(not _is_ambiguous(each, full, known) for each in short & set(_shortened(full)))
    ]


def _shortened(full: Name) -> Iterator[tuple[str, bool]]:
    """Yield the short forms of a name, each as (word, True if an article stands before it)."""
    yield full[0], True
    yield full[-1], True
    if SMALL_WORDS.isdisjoint(full):  # of a person the surname alone
        yield full[-1], False


def _short_forms(quote: str) -> Iterator[tuple[str, bool]]:
    """Yield the names of one word in the quote, each with and, if it has none, without article."""
    for name, has_article in _marked_names(quote):
        if len(name) == 1:
            yield name[0], has_article


def _is_ambiguous(short: tuple[str, bool], full: Name, known: Iterable[Name]) -> bool:
    """True if another name of the document may be meant by the short form."""
    word = short[0]
    others = (name for name in known if len(name) >= _LEAST_WORDS and word in (name[0], name[-1]))
    return any(not _holds(name, full) for name in others)


def _holds(name: Name, full: Name) -> bool:
    """True if the name is the full name, or ends with it: the Danish Board of Lights."""
    return name[-len(full) :] == full


def _names(text: str) -> Iterator[Name]:
    return (name for name, _ in _marked_names(text))


def _marked_names(text: str) -> Iterator[tuple[Name, bool]]:
    """Yield the names of a text: words with capital letters, and the small words between them."""
    run: list[str] = []
    has_article = False
    before, end = "", 0
    for match in _WORD.finditer(text):
        word, gap = match.group(), text[end : match.start()]
        is_next = bool(run) and gap.isspace() and len(run) < _LONGEST_NAME
        is_capital = word[0].isupper() and word.casefold() not in (*_OPENERS, *_ARTICLES)
        if not (is_next and (is_capital or word in SMALL_WORDS)):
            yield from _closed(run, has_article=has_article)
            run = []
        if run or is_capital:
            has_article = has_article if run else before in _ARTICLES and gap.isspace()
            run.append(_POSSESSIVE.sub("", plain_text(word)))
        before, end = word.casefold(), match.end()
    yield from _closed(run, has_article=has_article)


def _closed(run: Sequence[str], *, has_article: bool) -> Iterator[tuple[Name, bool]]:
    """Yield the name without small words at its end: they belong to what follows."""
    words = list(run)
    while words and words[-1] in SMALL_WORDS:
        words.pop()
    if words:
        yield tuple(words), has_article
