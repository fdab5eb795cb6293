"""Recognise a contradiction that is worded differently: by another side, or in a later round.

Tasks may contradict each other in several claims, and each claim is settled by itself.
"""

from collections.abc import Mapping, Sequence, Set

from holdfast.models.text.words import word_similarity, words_of
from holdfast.models.verification.verification_verdicts import Contradiction

TaskPair = frozenset[str]
"""The tasks that contradict each other; a single task contradicts itself."""

_MIN_LETTERS = 3


def task_pair(dispute: Contradiction) -> TaskPair:
    """Return the tasks of a contradiction, the same for both sides."""
    return frozenset(dispute.tasks)


def may_be_same(one: Contradiction, other: Contradiction) -> bool:
    """True unless the contradictions are about different tasks, or plainly about different facts.

    They are about different facts if each side of both has a number or a word that its opposite
    has not, and none of these is in both contradictions.
    """
    if task_pair(one) != task_pair(other):
        return False
    left, right = _disputed_terms(one), _disputed_terms(other)
    return not left or not right or bool(left & right)


def same_disputes(
    wanted: Sequence[Contradiction], known: Sequence[Contradiction]
) -> Mapping[int, int]:
    """Return the place in `known` of each of `wanted` that is there, whatever its words.

    Each of `known` is taken once, by the most similar one of `wanted`; the earlier one in a tie.
    """
    ranked = sorted(
        (
            (-_similarity(one, other), at, place)
            for at, one in enumerate(wanted)
            for place, other in enumerate(known)
            if may_be_same(one, other)
        )
    )
    found: dict[int, int] = {}
    for _, at, place in ranked:
        if at not in found and place not in found.values():
            found[at] = place
    return found


def _disputed_terms(dispute: Contradiction) -> Set[str]:
    """The numbers and words that only one claim has; none unless both have some of their own."""
    one, other = _terms(dispute.one), _terms(dispute.other)
    if not (one - other) or not (other - one):
        return frozenset()
    return one ^ other


def _terms(claim: str) -> Set[str]:
    return {word for word in words_of(claim) if len(word) >= _MIN_LETTERS or word.isdigit()}


def _similarity(one: Contradiction, other: Contradiction) -> float:
    return word_similarity(
        words_of(f"{one.one} {one.other}"), words_of(f"{other.one} {other.other}")
    )
