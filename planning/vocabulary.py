"""The values that a tool's parameter may have, and which of them are nearest to another text.

Nearness is of spelling: shared trigrams of words, then the longest common runs. No model, no
vectors; ten of 100,000 values are found in some tens of milliseconds.
"""

import unicodedata
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator
from difflib import SequenceMatcher
from functools import cached_property
from heapq import nlargest

NEAREST = 10
_LONGEST = 200
"""Characters of a text that are compared."""
_REREAD = 60
"""So many are compared run by run, out of those that share most trigrams."""
MOST_POSTINGS = 300_000
"""Trigrams that nearly all values have say nothing, and counting them would take the longest."""


def folded(text: str) -> str:
    """The text without differences of case, of compatible signs, and of white space."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


class Vocabulary:
    """Values in their order; what is looked up is indexed once, when it is first needed."""

    def __init__(self, values: Iterable[str]) -> None:
        self.values = tuple(dict.fromkeys(values))

    def __contains__(self, text: str) -> bool:
        return text in self._exact

    def same(self, text: str) -> str | None:
        """The value that differs from the text in case and spaces at most, where it is the only."""
        if text in self._exact:
            return text
        found = self._by_fold.get(folded(text), ())
        return found[0] if len(found) == 1 else None

    def nearest(self, text: str, most: int = NEAREST) -> tuple[str, ...]:
        """The values spelt most like the text, best first; fewer where fewer share anything."""
        asked = folded(text[:_LONGEST])
        matcher = SequenceMatcher(autojunk=False)
        matcher.set_seq2(asked)

        def score(at: int) -> float:
            matcher.set_seq1(folded(self.values[at][:_LONGEST]))
            return alike.get(at, 0.0) + matcher.ratio()

        alike = dict(self._alike(asked))
        pool = range(len(self.values)) if len(self.values) <= most else alike
        return tuple(self.values[at] for at in nlargest(most, pool, key=score))

    def _alike(self, asked: str) -> Iterator[tuple[int, float]]:
        """Values by their place with the share of trigrams (Dice); those with the highest."""
        grams = trigrams(asked)
        shared = self.shared(grams)

        def dice(each: tuple[int, int]) -> float:
            return 2 * each[1] / (len(grams) + self._sizes[each[0]])

        for each in nlargest(_REREAD, shared.items(), key=dice):
            yield each[0], dice(each)

    def shared(self, grams: frozenset[str]) -> Counter[int]:
        """How many of these trigrams each value has; the rarest are counted first, up to a limit.

        That limit is what a look-up costs at the most, however many values there are.
        """
        postings = sorted((self._index[g] for g in grams if g in self._index), key=len)
        found: Counter[int] = Counter()
        counted = 0
        for posting in postings:
            if found and counted + len(posting) > MOST_POSTINGS:
                break
            found.update(posting)
            counted += len(posting)
        return found

    @cached_property
    def _exact(self) -> frozenset[str]:
        return frozenset(self.values)

    @cached_property
    def _by_fold(self) -> dict[str, tuple[str, ...]]:
        found: dict[str, tuple[str, ...]] = {}
        for value in self.values:
            key = folded(value)
            found[key] = (*found.get(key, ()), value)
        return found

    @cached_property
    def _index(self) -> dict[str, "array[int]"]:
        found: dict[str, array[int]] = {}
        for at, value in enumerate(self.values):
            for gram in trigrams(folded(value[:_LONGEST])):
                posting = found.get(gram)
                if posting is None:
                    posting = found[gram] = array("I")
                posting.append(at)
        return found

    @cached_property
    def _sizes(self) -> "array[int]":
        return array("I", (len(trigrams(folded(each[:_LONGEST]))) for each in self.values))

    def prepare(self) -> None:
        """Make every index now; for 100,000 values it takes a second or two."""
        _ = (self._exact, self._by_fold, self._index, self._sizes)


def trigrams(text: str) -> frozenset[str]:
    """The trigrams of each word with its edges, whatever the order of the words."""
    edged = (f" {word} " for word in text.replace("_", " ").replace("-", " ").split())
    return frozenset(word[at : at + 3] for word in edged for at in range(len(word) - 2))
