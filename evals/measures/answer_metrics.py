"""Metrics of an answer (exact match, F1) and confidence intervals of a difference, as pure
functions."""

import math
import random
import re
import string
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

RESAMPLES = 2000
SEED = 20261121

_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)
_CLOSED = frozenset({"yes", "no", "noanswer"})


def normalized_text(text: str) -> str:
    """Without case, punctuation, articles and double spaces.

    Source: `normalize_answer` of hotpot_evaluate_v1.py.
    """
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split())


def is_exact_match(said: str, answers: Iterable[str]) -> bool:
    """True if it is one of the answers, normalised."""
    return normalized_text(said) in {normalized_text(each) for each in answers}


def best_f1(said: str, answers: Iterable[str]) -> float:
    """The harmonic mean of precision and recall in words, for the answer that is nearest.

    Source: `f1_score` of hotpot_evaluate_v1.py, where yes and no are all or nothing.
    """
    return max(_f1(normalized_text(said), normalized_text(each)) for each in answers)


def _f1(said: str, right: str) -> float:
    if said != right and not _CLOSED.isdisjoint({said, right}):
        return 0.0
    one, two = said.split(), right.split()
    shared = sum((Counter(one) & Counter(two)).values())
    return 2 * shared / (len(one) + len(two)) if shared else 0.0


def is_in_passages(answers: Iterable[str], passages: Iterable[str]) -> bool:
    """True if an answer stands in one of the passages, normalised, as whole words."""
    texts = [f" {normalized_text(each)} " for each in passages]
    wanted = [f" {normalized_text(each)} " for each in answers if normalized_text(each)]
    return any(answer in text for answer in wanted for text in texts)


class Interval(NamedTuple):
    """A mean with its 95% interval."""

    mean: float
    low: float
    high: float


def bootstrap_interval(
    differences: Sequence[float], *, resamples: int = RESAMPLES, seed: int = SEED
) -> Interval:
    """The mean of paired differences and its percentile interval; the same for the same seed.

    Questions are drawn with replacement, each with both sides' figures.
    Source: Efron and Tibshirani, An Introduction to the Bootstrap (1993), ch. 13.
    """
    count = len(differences)
    if not count:
        return Interval(math.nan, math.nan, math.nan)
    draw = random.Random(seed)
    means = sorted(sum(draw.choices(differences, k=count)) / count for _ in range(resamples))
    low, high = (means[round(share * (resamples - 1))] for share in (0.025, 0.975))
    return Interval(sum(differences) / count, low, high)
