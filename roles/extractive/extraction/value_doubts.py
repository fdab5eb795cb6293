"""Detect doubtful values, whose confidence is capped below the threshold."""

import re

from holdfast.roles.extractive.extraction.candidate_scoring import ScoredCandidate
from holdfast.roles.extractive.extraction.entity_query import EntityQuery
from holdfast.roles.extractive.extraction.response_passages import ParsedResponse
from holdfast.roles.extractive.text.noun_kinds import ValueKind
from holdfast.roles.extractive.text.words_and_sentences import stem, stems

DOUBTFUL_CONFIDENCE = 0.6
"""The highest confidence of a doubtful value."""
POOR_FIT = 0.4
"""Below this a value is of another sort than the wanted one: the best of what is there."""
_AMOUNTS = (ValueKind.NUMBER, ValueKind.YEAR, ValueKind.DATE)
_RELATIVES = """
wife husband spouse son daughter child father mother parent brother sister sibling uncle aunt
nephew niece cousin grandfather grandmother girlfriend boyfriend widow
"""
_KIN = frozenset(stem(each) for each in _RELATIVES.split())
_SAYS_KIN = _KIN | {stem(each) for each in ("married", "marriage", "born", "wed", "family", "née")}
_PRIZES = frozenset(
    stem(each) for each in ("prize", "award", "medal", "honour", "honor", "trophy", "cup", "order")
)
SAID_PLAINLY = ("height", "width", "depth", "thickness", "length")
"""Measures whose word must stand next to the amount."""


def is_doubtful(best: ScoredCandidate, wanted: EntityQuery, reading: ParsedResponse) -> bool:
    """True if the value is of another kind than asked for, or belongs to another subject."""
    return (
        best.features["fit"] < POOR_FIT
        or _is_no_kin(best, wanted)
        or _is_no_prize(best, wanted)
        or is_another_measure(best, wanted)
        or _is_person_for_group(best, wanted, reading)
        or _is_of_another_name(best, wanted, reading)
    )


def _is_no_kin(best: ScoredCandidate, wanted: EntityQuery) -> bool:
    """True if a relative is asked for and the sentence names no family relation."""
    said = best.place.sentence.stems
    return bool(wanted.noun & _KIN) and not said & _SAYS_KIN


def _is_no_prize(best: ScoredCandidate, wanted: EntityQuery) -> bool:
    return bool(wanted.noun & _PRIZES) and not frozenset(stems(best.value)) & _PRIZES


def _is_person_for_group(
    best: ScoredCandidate, wanted: EntityQuery, reading: ParsedResponse
) -> bool:
    """True if a group is asked for, and what was read names the value as a person: `Ms. X`."""
    if wanted.kind is not ValueKind.GROUP:
        return False
    name = re.escape(best.value.lower())
    said = re.compile(
        rf"\b(?:mr|mrs|ms|miss|dr|prof)\b\.? {name}|\b{name}, (?:[\w-]+ ){{0,3}}?(?:{_POSTS})\b"
    )
    return any(said.search(passage.lower_text) for passage in reading.passages)


_POSTS = (
    "manager|director|secretary|engineer|chairman|chairwoman|ceo|mayor|lawyer|surveyor|accountant|"
    "technician|supervisor|nurse|teacher|minister|president"
)
"""What only a person is; an owner, a maker or a founder may be a company."""


def is_another_measure(best: ScoredCandidate, wanted: EntityQuery) -> bool:
    """`five kilometres south` is no height: a measure needs its word next to it."""
    if wanted.measure not in SAID_PLAINLY:
        return False
    text = best.place.sentence.text
    at = text.find(best.value)
    nearby = text[max(0, at - _NEARBY_CHARS) : at + len(best.value) + _NEARBY_CHARS]
    lasts = wanted.measure == "length" and re.search(r"minute|hour|page", best.value)
    return not lasts and not wanted.noun & frozenset(stems(nearby))


_NEARBY_CHARS = 20


def _is_of_another_name(
    best: ScoredCandidate, wanted: EntityQuery, reading: ParsedResponse
) -> bool:
    """True if an amount's sentence and title name little of what is asked about."""
    if wanted.kind not in _AMOUNTS or wanted.subject or not wanted.named:
        return False
    said = best.place.sentence.stems | best.place.passage.title_stems
    return reading.coverage(wanted.named, said) < _NAMED_ENOUGH


_NAMED_ENOUGH = 0.34
