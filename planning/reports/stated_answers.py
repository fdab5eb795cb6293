"""Find out if one quote states an answer: its words, and most words of the question."""

import re
from collections.abc import Iterable
from typing import NamedTuple

_ENOUGH = 0.8
"""The share of the question's words that the quote and its document's title must have."""
_LEAST_WORDS = 2
"""A quote has the one word of `When was it opened?` by chance."""
_STEM = 5
"""Two words count as one if they begin with the same letters: `signed`, `signature`."""
_LEAST_LETTERS = 3
_GRAMMAR = """
what which who whom whose when where how many much long old did does was were are has have had the
and for with from that this its into per name
"""
_GRAMMATICAL = frozenset(_GRAMMAR.split())


class TitledQuote(NamedTuple):
    """A quote with the title of its document."""

    quote: str
    title: str


def is_stated(question: str, answer: str, quotes: Iterable[TitledQuote]) -> bool:
    """Return True if a quote has the answer's words and most words of the question.

    The words of the question that the answer repeats do not count.
    """
    said = answer.strip(" .").casefold()
    asked = _beginnings(_words(question) - _words(answer) - _GRAMMATICAL)
    if not said or len(asked) < _LEAST_WORDS:
        return False
    whole = re.compile(rf"(?<!\w){re.escape(said)}(?!\w)")
    return any(
        len(asked & _beginnings(_words(f"{each.quote} {each.title}"))) >= _ENOUGH * len(asked)
        for each in quotes
        if whole.search(each.quote.casefold())
    )


def _words(text: str) -> set[str]:
    found = re.findall(r"\w+", text.casefold())
    return {word for word in found if len(word) >= _LEAST_LETTERS or word.isdigit()}


def _beginnings(words: Iterable[str]) -> set[str]:
    return {word[:_STEM] for word in words}
