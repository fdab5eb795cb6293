"""Split text into words and count the words that two texts share."""

import re
from collections.abc import Set

_WORD = re.compile(r"[^\W_]+")


def words_of(text: str, min_letters: int = 1) -> frozenset[str]:
    """The words of the text without differences of case; an underscore separates words too."""
    return frozenset(word for word in _WORD.findall(text.casefold()) if len(word) >= min_letters)


def shared_share(wanted: Set[str], words: Set[str]) -> float:
    """The share of the wanted words that are among the words, 0 to 1; 0 if none is wanted."""
    return len(wanted & words) / len(wanted) if wanted else 0.0


def word_similarity(one: Set[str], other: Set[str]) -> float:
    """The shared words among all words of both (Jaccard), 0 to 1."""
    return len(one & other) / max(len(one | other), 1)
