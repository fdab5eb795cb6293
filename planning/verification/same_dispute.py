"""Recognise a contradiction that is worded differently: by another side, or in a later round.

Tasks may contradict each other in several claims, and each claim is settled by itself.
"""

import re
from collections.abc import Mapping, Sequence, Set

from holdfast.models.text.words import word_similarity, words_of
from holdfast.models.verification.verification_verdicts import Contradiction

TaskPair = frozenset[str]
"""The tasks that contradict each other; a single task contradicts itself."""

_MIN_LETTERS = 3
_WORDS = """
about according after all also and are been before being but can did does for from had has
have her his into its may more most not only other over said says some such than that the
their them then there these they this those time under until was were what when where which
who will with would
"""
_COMMON = frozenset(_WORDS.split())
"""Words that say nothing of what a contradiction is about."""
_BETWEEN_THOUSANDS = re.compile(r"(?<=\d)[,\u2009\u202f](?=\d{3}(?!\d))")


def task_pair(dispute: Contradiction) -> TaskPair:
    """Return the tasks of a contradiction, the same for both sides."""
    return frozenset(dispute.tasks)


def may_be_same(one: Contradiction, other: Contradiction) -> bool:
    """True unless the contradictions are about different tasks, or plainly about different facts.

    They are about different facts if each side of both has a number that its opposite has not, and
    none of these is in both contradictions. If one of them has no such numbers, words count too.
    """
    if task_pair(one) != task_pair(other):
        return False
    left, right = _disputed_numbers(one), _disputed_numbers(other)
    if not left or not right:
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


def _disputed_numbers(dispute: Contradiction) -> Set[str]:
    return _only_on_one_side(_numbers(dispute.one), _numbers(dispute.other))


def _disputed_terms(dispute: Contradiction) -> Set[str]:
    return _only_on_one_side(_terms(dispute.one), _terms(dispute.other))


def _only_on_one_side(one: Set[str], other: Set[str]) -> Set[str]:
    """What only one claim has; nothing unless both have some of their own."""
    return one ^ other if one - other and other - one else frozenset()


def _numbers(claim: str) -> Set[str]:
    return {word for word in words_of(_BETWEEN_THOUSANDS.sub("", claim)) if word.isdigit()}


def _terms(claim: str) -> Set[str]:
    return _numbers(claim) | (words_of(claim, _MIN_LETTERS) - _COMMON)


def _similarity(one: Contradiction, other: Contradiction) -> float:
    return word_similarity(
        words_of(f"{one.one} {one.other}"), words_of(f"{other.one} {other.other}")
    )
