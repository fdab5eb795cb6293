"""Rate how well a candidate's kind fits the kind of the expected entity."""

import re

from holdfast.roles.extractive.extraction.entity_query import EntityQuery
from holdfast.roles.extractive.text.measure_units import has_unit
from holdfast.roles.extractive.text.noun_kinds import ValueKind, kind_of_noun
from holdfast.roles.extractive.text.value_candidates import ValueCandidate


def type_fit(candidate: ValueCandidate, wanted: EntityQuery) -> float:
    """How well the candidate's type fits the wanted type, 0 to 1."""
    table = _FIT_BY_KIND.get(wanted.kind, {})
    base = table.get(candidate.kind, 0.0)
    if wanted.kind is ValueKind.NUMBER and not has_unit(candidate.value, wanted.measure):
        return 0.0
    if wanted.kind in (ValueKind.PERSON, ValueKind.GROUP) and _IDENTIFIER.fullmatch(
        candidate.value
    ):
        return 0.0
    if wanted.kind is ValueKind.PERSON and base:
        return base * _like_a_person(candidate.value)
    return base


_NAMES = {ValueKind.NAME: 1.0, ValueKind.PLACE: 0.8, ValueKind.WORK: 0.6}
_FIT_BY_KIND: dict[ValueKind, dict[ValueKind, float]] = {
    ValueKind.PERSON: {ValueKind.NAME: 1.0, ValueKind.PLACE: 0.5, ValueKind.WORK: 0.3},
    ValueKind.PLACE: {ValueKind.PLACE: 1.0, ValueKind.NAME: 0.7},
    ValueKind.GROUP: {ValueKind.NAME: 1.0, ValueKind.PLACE: 0.7, ValueKind.WORK: 0.3},
    ValueKind.WORK: {ValueKind.WORK: 1.0, ValueKind.NAME: 0.6, ValueKind.PLACE: 0.4},
    ValueKind.DATE: {ValueKind.DATE: 1.0, ValueKind.YEAR: 0.6},
    ValueKind.YEAR: {ValueKind.YEAR: 1.0},
    ValueKind.NUMBER: {ValueKind.NUMBER: 1.0},
    ValueKind.QUALITY: {
        ValueKind.QUALITY: 1.0,
        ValueKind.NAME: 0.4,
        ValueKind.PLACE: 0.3,
        ValueKind.PHRASE: 0.6,
    },
    ValueKind.NAME: _NAMES,
    ValueKind.ANY: {
        **_NAMES,
        ValueKind.QUALITY: 0.5,
        ValueKind.PHRASE: 0.5,
        ValueKind.NUMBER: 0.4,
        ValueKind.DATE: 0.3,
    },
    ValueKind.PHRASE: {
        ValueKind.PHRASE: 1.0,
        ValueKind.QUALITY: 0.7,
        ValueKind.NUMBER: 0.7,
        ValueKind.NAME: 0.6,
        ValueKind.DATE: 0.4,
    },
}
_SORTS = (ValueKind.PLACE, ValueKind.GROUP, ValueKind.WORK)
_IDENTIFIER = re.compile(r"[A-Z]{1,4}(?:(?:-\d+){2,3}|-?\d{4,})[A-Z]?")
"""`IR-2025-03` is the number of a document or a thing; `D-12` may be a group."""
_NOT_OF_A_PERSON = re.compile(
    r"^The |\d|\b(?:of|the|and|for|with|University|College|School|Award|Awards|Company|Club|"
    r"County|City|Film|War|State|States|Inc|Ltd|League|Party|House|Records|Festival|Series|Prize|Church|Museum)\b"
)


def _like_a_person(name: str) -> float:
    if _NOT_OF_A_PERSON.search(name) or kind_of_noun(name.split()[-1]) in _SORTS:
        return 0.3
    return 1.0 if 2 <= len(name.split()) <= 4 else 0.5
