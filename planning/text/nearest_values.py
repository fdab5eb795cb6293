"""Find the names or the allowed values of a parameter that are spelled most like a given text.

Similarity is of spelling, measured by rapidfuzz; no model, no vectors. Ten of 100,000 values are
found in some tens of milliseconds. `fuse_rankings` adds a ranking by meaning.
"""

import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

NEAREST_COUNT = 10
_MAX_COMPARED = 200
"""Characters of a text that are compared."""
_MIN_SIMILARITY = 0.4
"""The share of characters in common order below which two values are not near."""


def fold_text(text: str) -> str:
    """The text without differences of case, of compatible characters, and of white space."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def nearest_names(
    name: str, names: Sequence[str], limit: int = 3, min_similarity: float = 0.6
) -> list[str]:
    """The names spelled most like the given one, best first; at most `limit`.

    Similarity is from 0 to 1 (equal): the share of characters that both have in the same order.
    """
    compared = [each[:_MAX_COMPARED] for each in names]
    nearest = _most_similar(name[:_MAX_COMPARED], compared, limit, min_similarity)
    return [names[index] for index, _ in nearest]


def fuse_rankings(*rankings: Sequence[str]) -> list[str]:
    """The texts of several rankings in one, best first; a text that two of them have gains.

    Reciprocal rank fusion with the k of 60 of Cormack, Clarke and Buettcher (2009).
    """
    scores = defaultdict[str, float](float)
    for ranking in rankings:
        for place, text in enumerate(ranking, start=1):
            scores[text] += 1 / (60 + place)
    return sorted(scores, key=lambda text: -scores[text])


class Vocabulary:
    """Values in their order, compared by spelling whatever the order of their words."""

    def __init__(self, values: Iterable[str]) -> None:
        self.values = tuple(dict.fromkeys(values))

    def __contains__(self, text: str) -> bool:
        return text in self._exact

    def same(self, text: str) -> str | None:
        """The one value that differs from the text in case and spaces at most, or None."""
        if text in self._exact:
            return text
        values = self._by_fold.get(fold_text(text), [])
        return values[0] if len(values) == 1 else None

    def nearest(self, text: str, limit: int = NEAREST_COUNT) -> tuple[str, ...]:
        """The values spelled most like the text, best first; all if there are no more than these.

        A value counts by its spelling as written or with its words sorted, whichever is nearer.
        """
        cutoff = _MIN_SIMILARITY if len(self.values) > limit else 0.0
        scores: dict[int, float] = {}
        for query, keys in (
            (_as_written(text), self._written),
            (_with_sorted_words(text), self._sorted),
        ):
            for index, score in _most_similar(query, keys, limit, cutoff):
                scores[index] = max(score, scores.get(index, 0.0))
        best = sorted(scores, key=lambda index: (-scores[index], index))
        return tuple(self.values[index] for index in best[:limit])

    def prepare(self) -> None:
        """Fold every value now; for 100,000 values it takes about a second."""
        _ = (self._exact, self._by_fold, self._written, self._sorted)

    @cached_property
    def _exact(self) -> frozenset[str]:
        return frozenset(self.values)

    @cached_property
    def _by_fold(self) -> Mapping[str, list[str]]:
        folded = defaultdict[str, list[str]](list)
        for value in self.values:
            folded[fold_text(value)].append(value)
        return folded

    @cached_property
    def _written(self) -> list[str]:
        return [_as_written(value) for value in self.values]

    @cached_property
    def _sorted(self) -> list[str]:
        return [_with_sorted_words(value) for value in self.values]


def _most_similar(
    text: str, names: Sequence[str], limit: int, min_similarity: float
) -> list[tuple[int, float]]:
    """The places of the most similar names with their similarity, best first."""
    # Imported where it is used: it takes as long as the rest of a small command.
    from rapidfuzz import fuzz, process

    matches = process.extract(
        text, names, scorer=fuzz.ratio, limit=limit, score_cutoff=100 * min_similarity
    )
    return [(index, score) for _, score, index in matches]


def _as_written(text: str) -> str:
    return fold_text(text[:_MAX_COMPARED]).replace("_", " ").replace("-", " ")


def _with_sorted_words(text: str) -> str:
    return " ".join(sorted(_as_written(text).split()))
