"""What speaks against a value although nothing better was found: it then passes no check."""

import re

from roles.extractive.lexicon import Kind
from roles.extractive.reading import Reading
from roles.extractive.scoring import Scored
from roles.extractive.text import stem, stems
from roles.extractive.wanted import Wanted

DOUBTED = 0.6
"""The most that a doubtful value is trusted."""
FITS_HARDLY = 0.4
"""Below this a value is of another sort than the wanted one: the best of what is there."""
_AMOUNTS = (Kind.NUMBER, Kind.YEAR, Kind.DATE)
_RELATIVES = """
wife husband spouse son daughter child father mother parent brother sister sibling uncle aunt
nephew niece cousin grandfather grandmother girlfriend boyfriend widow
"""
_KIN = frozenset(stem(each) for each in _RELATIVES.split())
_SAYS_KIN = _KIN | {stem(each) for each in ("married", "marriage", "born", "wed", "family", "née")}
_PRIZES = frozenset(
    stem(each) for each in ("prize", "award", "medal", "honour", "honor", "trophy", "cup", "order")
)
_SAID_PLAINLY = ("height", "width", "depth", "thickness", "length")


def is_doubtful(best: Scored, wanted: Wanted, reading: Reading) -> bool:
    """Whether the value is of another sort, or said of something else, than what is asked."""
    return (
        best.features["fit"] < FITS_HARDLY
        or _is_no_kin(best, wanted)
        or _is_no_prize(best, wanted)
        or is_another_measure(best, wanted)
        or _is_of_another_name(best, wanted, reading)
    )


def _is_no_kin(best: Scored, wanted: Wanted) -> bool:
    """A wife is one only where something says so."""
    said = best.place.sentence.stems
    return bool(wanted.noun & _KIN) and not said & _SAYS_KIN


def _is_no_prize(best: Scored, wanted: Wanted) -> bool:
    return bool(wanted.noun & _PRIZES) and not frozenset(stems(best.value)) & _PRIZES


def is_another_measure(best: Scored, wanted: Wanted) -> bool:
    """`five kilometres south` is no height: a measure is said with its word beside it."""
    if wanted.measure not in _SAID_PLAINLY:
        return False
    text = best.place.sentence.text
    at = text.find(best.value)
    beside = text[max(0, at - _BESIDE) : at + len(best.value) + _BESIDE]
    lasts = wanted.measure == "length" and re.search(r"minute|hour|page", best.value)
    return not lasts and not wanted.noun & frozenset(stems(beside))


_BESIDE = 20


def _is_of_another_name(best: Scored, wanted: Wanted, reading: Reading) -> bool:
    """An amount is of what its sentence or its passage's title names."""
    if wanted.kind not in _AMOUNTS or wanted.subject or not wanted.named:
        return False
    said = best.place.sentence.stems | best.place.passage.title_stems
    return reading.coverage(wanted.named, said) < _NAMED_ENOUGH


_NAMED_ENOUGH = 0.34
