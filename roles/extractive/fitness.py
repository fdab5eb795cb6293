"""How well the type of a candidate is the type that is wanted."""

import re

from roles.extractive.candidates import Candidate
from roles.extractive.lexicon import Kind, kind_of_noun
from roles.extractive.measures import has_unit
from roles.extractive.offices import head_of
from roles.extractive.wanted import Wanted


def fit(candidate: Candidate, wanted: Wanted) -> float:
    """How well the candidate's type is the wanted one, 0 to 1."""
    table = _FITS.get(wanted.kind, {})
    base = table.get(candidate.kind, 0.0)
    if wanted.kind is Kind.NUMBER and not has_unit(candidate.value, wanted.measure):
        return 0.0
    if (
        wanted.kind is Kind.PLACE
        and wanted.noun
        and kind_of_noun(head_of(candidate.value)) is (Kind.GROUP)
    ):
        return base * 0.3
    if wanted.kind is Kind.PERSON and base:
        return base * _like_a_person(candidate.value)
    return base


_NAMES = {Kind.NAME: 1.0, Kind.PLACE: 0.8, Kind.WORK: 0.6}
_FITS: dict[Kind, dict[Kind, float]] = {
    Kind.PERSON: {Kind.NAME: 1.0, Kind.PLACE: 0.5, Kind.WORK: 0.3},
    Kind.PLACE: {Kind.PLACE: 1.0, Kind.NAME: 0.7},
    Kind.GROUP: {Kind.NAME: 1.0, Kind.PLACE: 0.7, Kind.WORK: 0.3},
    Kind.WORK: {Kind.WORK: 1.0, Kind.NAME: 0.6, Kind.PLACE: 0.4},
    Kind.DATE: {Kind.DATE: 1.0, Kind.YEAR: 0.6},
    Kind.YEAR: {Kind.YEAR: 1.0},
    Kind.NUMBER: {Kind.NUMBER: 1.0},
    Kind.QUALITY: {Kind.QUALITY: 1.0, Kind.NAME: 0.4, Kind.PLACE: 0.3, Kind.PHRASE: 0.6},
    Kind.OFFICE: {Kind.OFFICE: 1.0, Kind.QUALITY: 0.3},
    Kind.NAME: _NAMES,
    Kind.ANY: {**_NAMES, Kind.QUALITY: 0.5, Kind.PHRASE: 0.5, Kind.NUMBER: 0.4, Kind.DATE: 0.3},
    Kind.PHRASE: {
        Kind.PHRASE: 1.0,
        Kind.QUALITY: 0.7,
        Kind.NUMBER: 0.7,
        Kind.NAME: 0.6,
        Kind.DATE: 0.4,
    },
}
_SORTS = (Kind.PLACE, Kind.GROUP, Kind.WORK)
_NOT_OF_A_PERSON = re.compile(
    r"^The |\d|\b(?:of|the|and|for|University|College|School|Award|Awards|Company|Club|"
    r"County|City|Film|War|State|States|Inc|Ltd|League|Party|House|Records|Festival|Series|Prize|Church|Museum)\b"
)


def _like_a_person(name: str) -> float:
    if _NOT_OF_A_PERSON.search(name) or kind_of_noun(name.split()[-1]) in _SORTS:
        return 0.3
    return 1.0 if 2 <= len(name.split()) <= 4 else 0.5
