"""Matcher by rules: accept a candidate only if it is a spelling variant.

Precision over recall: case, accents, punctuation, camelCase, articles, a plural's ending and two
letters that changed places are another writing; any other letter may be another meaning.
"""

import re
import unicodedata
from itertools import pairwise

from holdfast.roles.tasks.matcher import MatcherAnswer, MatcherTask

_ARTICLES = frozenset({"a", "an", "the"})
_LEAST_TYPO = 5
"""The shortest word in which two swapped letters count as a typing error."""


def match(task: MatcherTask) -> MatcherAnswer:
    """The one candidate that is another spelling of the argument; None if not exactly one."""
    asked = _words(task.argument)
    same = [each for each in task.candidates if _is_same(asked, _words(each))]
    return MatcherAnswer(match=same[0] if len(same) == 1 else None)


def _words(text: str) -> tuple[str, ...]:
    """The words in their order, without case, accents, punctuation and articles."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", text)
    plain = unicodedata.normalize("NFKD", spaced)
    letters = "".join(sign for sign in plain if not unicodedata.combining(sign)).casefold()
    found = re.findall(r"[^\W_]+|[^\w\s]", letters)
    return tuple(each for each in found if each not in _ARTICLES and not _is_mark(each))


def _is_mark(word: str) -> bool:
    """True if the word is one punctuation sign without meaning; `+`, `%` and `<` have one."""
    return word in "-.,;:'\"()[]/" and len(word) == 1


def _is_same(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    return bool(one) and len(one) == len(other) and all(map(_is_same_word, one, other))


def _is_same_word(one: str, other: str) -> bool:
    return one == other or _singular(one) == _singular(other) or _is_swapped(one, other)


def _singular(word: str) -> str:
    if len(word) > 3 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def _is_swapped(one: str, other: str) -> bool:
    """True if two neighbouring letters changed places; never digits."""
    if len(one) != len(other) or len(one) < _LEAST_TYPO or not one.isalpha():
        return False
    differ = [at for at, (a, b) in enumerate(zip(one, other, strict=True)) if a != b]
    places = list(pairwise(differ))
    return places == [(differ[0], differ[0] + 1)] and (
        one[differ[0]] == other[differ[1]] and one[differ[1]] == other[differ[0]]
    )
