"""Decide whether a sentence without a citation claims something about the world.

Such a sentence may say again what the question, a found value or a gap says, and it may say what is
not known. Anything else is a claim, and a claim needs a citation.
"""

import re
from collections.abc import Iterable
from functools import lru_cache

from holdfast.models.text.words import words_of

_MIN_LETTERS = 3
_STEM_LETTERS = 4
"""Words that begin alike count as one word: `opened` and `opening`."""
_LIMIT_WORDS = words_of(
    "no not nor none never nothing nobody nowhere neither cannot without unknown unclear unstated "
    "undated unanswered unproven unconfirmed unverified unreported undocumented uncertain unsure "
    "silent open little few missing lack lacks lacking"
)
"""Words by which a sentence says what is not known."""
_SHORT_NOT = re.compile(r"n['’]t\b", re.IGNORECASE)
"""The end of `don't`, which says the same as `do not`."""
_WORDS_OF_REPORTS = words_of(
    "the and for from with that this these those there here was were has have had are its their "
    "his her they them which what when where who whom whose why how into than then also only both "
    "each all any some other such more most less still yet but about after before between during "
    "while because since per via did does done can could may might must should would will been "
    "being one two three first second third report question answer answers asked source sources "
    "document documents passage passages evidence finding findings result results read found "
    "find search searched stated state states said says say named name names given give gives "
    "shown show shows following above below according together therefore thus however agree agrees "
    "disagree disagrees differ differs contradict contradicts contradiction conflict conflicts"
)
"""Words of every report, which claim nothing of the world by themselves."""


def claims_without_source(sentence: str, known: Iterable[str]) -> bool:
    """True if the sentence claims something that none of the known texts says."""
    words = words_of(sentence)
    if words & _LIMIT_WORDS or _SHORT_NOT.search(sentence):
        return False
    said = _stems_of(tuple(known))
    own = {word for word in words if len(word) >= _MIN_LETTERS} - _WORDS_OF_REPORTS
    return not {_stem(word) for word in own} <= said


@lru_cache(maxsize=4)
def _stems_of(texts: tuple[str, ...]) -> frozenset[str]:
    # All sentences of a report are compared with the same texts.
    return frozenset(_stem(word) for text in texts for word in words_of(text, _MIN_LETTERS))


def _stem(word: str) -> str:
    return word[:_STEM_LETTERS]
