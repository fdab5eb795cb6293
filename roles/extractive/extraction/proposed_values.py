"""Tell an amount that is only proposed from the one that holds: `5 %; the board proposes 7 %`."""

import re
from collections.abc import Sequence

from holdfast.roles.extractive.text.noun_kinds import ValueKind
from holdfast.roles.extractive.text.value_candidates import ValueCandidate

_PROPOSES = re.compile(
    r"\b(?:propos|suggest|recommend|request|demand)\w*"
    r"|\b(?:ask|plan|wish|want)(?:s|ed)? (?:for|to)\b",
    re.IGNORECASE,
)
_AGREED = re.compile(r"\b(?:accept|approv|agree|adopt|confirm)\w*", re.IGNORECASE)
"""What makes a proposal the amount that holds."""
_CLAUSE_END = re.compile(r"[;:]|,(?!\d)|\b(?:and|but|while|whereas|though)\b", re.IGNORECASE)
_AMOUNT = re.compile(r"[\d.,\s]+")


def without_unasked_proposals(
    every: Sequence[ValueCandidate], sentence: str, question: str
) -> list[ValueCandidate]:
    """Return the candidates without amounts that are proposed, if another clause has what holds.

    A question for the proposal gets the proposed amounts, and not those that hold. Only amounts of
    one unit are told apart: a number without a unit may count anything.
    """
    if not _PROPOSES.search(sentence) or _AGREED.search(sentence):
        return list(every)
    amounts = [each for each in every if each.kind is ValueKind.NUMBER and _unit(each)]
    proposed = [each for each in amounts if _is_proposed(each, sentence)]
    units = {_unit(each) for each in proposed}
    holding = [each for each in amounts if each not in proposed and _unit(each) in units]
    if not proposed or not holding:
        return list(every)
    unasked = holding if _PROPOSES.search(question) else proposed
    return [each for each in every if not any(_is_within(each, other) for other in unasked)]


def _is_proposed(value: ValueCandidate, sentence: str) -> bool:
    """True if a verb such as `proposes` stands before the amount in its clause."""
    before = sentence[max(0, value.start - _LONGEST_CLAUSE) : value.start]
    start = max((found.end() for found in _CLAUSE_END.finditer(before)), default=0)
    return _PROPOSES.search(before, start) is not None


_LONGEST_CLAUSE = 120
"""Characters that are read: a sentence may have thousands of amounts."""


def _unit(value: ValueCandidate) -> str:
    return _AMOUNT.sub("", value.value.lower())


def _is_within(one: ValueCandidate, other: ValueCandidate) -> bool:
    return other.start <= one.start and one.end <= other.end
