"""Compute the features by which a value candidate is scored."""

import re

from holdfast.roles.extractive.extraction.entity_query import EntityQuery, SentenceMatch, is_named
from holdfast.roles.extractive.extraction.response_passages import ParsedResponse, ResponsePassage
from holdfast.roles.extractive.extraction.type_matching import type_fit
from holdfast.roles.extractive.text.noun_kinds import ValueKind
from holdfast.roles.extractive.text.value_candidates import ValueCandidate
from holdfast.roles.extractive.text.words_and_sentences import stem, stems


def features_of(
    candidate: ValueCandidate,
    place: SentenceMatch,
    wanted: EntityQuery,
    reading: ParsedResponse,
    *,
    is_title: bool,
) -> dict[str, float]:
    """The features of a candidate, unweighted, most of them 0 to 1."""
    own = _own_passage(candidate.value, reading)
    return {
        "passage": place.passage_share,
        "sentence": place.sentence_share,
        "named": float(place.is_named),
        "fit": _fit(candidate, place, own, wanted, reading),
        "noun": _says_noun(candidate, place, wanted, own),
        "linked": float(own is not None and own is not place.passage),
        "own": _own_share(own, place, wanted, reading),
        "title": float(is_title),
        "mentions": _mentions(place, wanted, reading),
        "order": min(place.sentence.order, 5) / 5,
        "short": float(len(candidate.value) < 4),
        "long": min(len(candidate.value.split()), 10) / 10,
        "adjective": float(not is_title and _is_adjective(candidate, place.sentence.text)),
        "again": _said_again(candidate, place, reading),
        "dense": 0.3
        if is_title
        else _relation_density(candidate, place.sentence.text, wanted, reading),
        "overlap": _overlap(candidate, wanted),
        "joined": float(" and " in candidate.value),
        "life": 0.0 if is_title else _birth_or_death(candidate, place.sentence.text, wanted),
    }


def _fit(
    candidate: ValueCandidate,
    place: SentenceMatch,
    own: ResponsePassage | None,
    wanted: EntityQuery,
    reading: ParsedResponse,
) -> float:
    """The fit of the type; less if the text says that the value is another sort of thing."""
    base = type_fit(candidate, wanted)
    differs = _own_kind(own, wanted) < 0 and bool(wanted.noun)
    if not differs and wanted.kind is ValueKind.GROUP and wanted.noun:
        founds = _FOUNDED_BY.search(place.sentence.text[: candidate.start])
        differs = founds is not None or _is_mostly_a_place(candidate.value, reading)
    return base * _OF_ANOTHER_SORT if differs else base


def _is_mostly_a_place(value: str, reading: ParsedResponse) -> bool:
    """True if most of what was read says a single word as a place: `in X`, `at X`."""
    if " " in value:
        return False
    said, placed = reading.said_times[value.lower()], reading.placed_times[value.lower()]
    return said > 1 and placed * 2 >= said


_OF_ANOTHER_SORT = 0.35
_FOUNDED_BY = re.compile(
    r"\b(?:founded|established|formed|started|set up)(?: in \d{4})? by"
    r"(?: [A-Z][\w.]+(?: [A-Z][\w.]+)*(?:,| and))* $"
)


def _says_noun(
    candidate: ValueCandidate,
    place: SentenceMatch,
    wanted: EntityQuery,
    own: ResponsePassage | None,
) -> float:
    """True if the value, the text around it, or its own passage says the asked noun."""
    if not wanted.noun:
        return 0.0
    value = frozenset(stems(candidate.value))
    if wanted.noun & value and not wanted.noun >= value:
        return 1.0
    if own is not None and own.sentences and wanted.noun & own.sentences[0].stems:
        return 1.0
    text = place.sentence.text
    nearby = stems(text[max(0, candidate.start - 40) : candidate.end + 25])
    return 0.6 if wanted.noun & frozenset(nearby) else 0.0


def _own_passage(value: str, reading: ParsedResponse) -> ResponsePassage | None:
    """The passage in the same response whose title is the value."""
    return reading.by_name.get(value.lower())


def _own_share(
    own: ResponsePassage | None, place: SentenceMatch, wanted: EntityQuery, reading: ParsedResponse
) -> float:
    """The share of the uncovered words that the value's own passage covers."""
    if own is None or own is place.passage:
        return 0.0
    return reading.coverage(wanted.about - place.passage.stems, own.stems)


def _is_adjective(candidate: ValueCandidate, text: str) -> bool:
    """True if a single capitalised word stands before a small one: `American actor`."""
    after = text[candidate.end : candidate.end + 2]
    return (
        " " not in candidate.value
        and after[:1] in (" ", "-")
        and after[1:].islower()
        and bool(_PEOPLE.search(candidate.value))
    )


def _own_kind(own: ResponsePassage | None, wanted: EntityQuery) -> float:
    """1 when the value's own passage is about the wanted sort of thing, -1 about another sort."""
    if own is None or own.kind is None or wanted.kind not in _SORTS:
        return 0.0
    return 1.0 if own.kind is wanted.kind else -1.0


_SORTS = (ValueKind.PERSON, ValueKind.PLACE, ValueKind.GROUP, ValueKind.WORK)
_WINDOW = 70


def _relation_density(
    candidate: ValueCandidate, text: str, wanted: EntityQuery, reading: ParsedResponse
) -> float:
    """The share, by weight, of the asked relation that stands within a window of the value."""
    window = text[max(0, candidate.start - _WINDOW) : candidate.end + _WINDOW]
    return reading.coverage(wanted.relation, frozenset(stems(window)))


def _overlap(candidate: ValueCandidate, wanted: EntityQuery) -> float:
    """The share of the value's words that the question says already, its noun aside."""
    value = frozenset(stems(candidate.value)) - wanted.noun
    return len(value & wanted.known) / len(value) if value else 0.0


_BIRTH, _DEATH = frozenset({"born", "birth", "birthdat", "birthday"}), frozenset({"die", "dead"})


_BEGIN = frozenset(map(stem, ("begin", "began", "start", "started", "commence")))
_END = frozenset(map(stem, ("end", "ends", "expire", "until")))
_TERM = re.compile(
    r"\b(begins?|began|starts?|started|from|since|ends?|ended|until|expires?)\b", re.IGNORECASE
)


def _birth_or_death(candidate: ValueCandidate, text: str, wanted: EntityQuery) -> float:
    """In `(1929 – 2010)` the first date is the birth and the second the death."""
    if candidate.kind not in (ValueKind.DATE, ValueKind.YEAR):
        return 0.0
    before = text[max(0, candidate.start - 40) : candidate.start]
    asks_begin, asks_end = bool(_BEGIN & wanted.about), bool(_END & wanted.about)
    if asks_begin or asks_end:
        verbs = _TERM.findall(before)
        ends = bool(verbs) and verbs[-1].lower().startswith(("end", "until", "expire"))
        begins = bool(verbs) and not ends
        return float((begins and asks_begin) or (ends and asks_end)) - float(
            (begins and asks_end) or (ends and asks_begin)
        )
    ends = bool(re.search(r"\d{4}\s*[–—-]\s*(?:[^()]{0,20})$", before)) or "died" in before[-12:]
    begins = bool(re.search(r"(?:\(|born)[^()–—-]{0,25}$", before)) and not ends
    asks_birth, asks_death = bool(_BIRTH & wanted.about), bool(_DEATH & wanted.about)
    return (
        float(begins and asks_birth)
        + float(ends and asks_death)
        - float((begins and asks_death) or (ends and asks_birth))
    )


_PEOPLE = re.compile(r"(?:an|ish|ese|ch|ic|i)$")


def _said_again(candidate: ValueCandidate, place: SentenceMatch, reading: ParsedResponse) -> float:
    """In how many other passages the value stands, up to two."""
    folded = candidate.value.lower()
    if len(folded) < 3:
        return 0.0
    times = sum(folded in each.lower_text for each in reading.passages if each is not place.passage)
    return min(times, 2) / 2


def _mentions(place: SentenceMatch, wanted: EntityQuery, reading: ParsedResponse) -> float:
    """True if the passage speaks of another one whose title the question names."""
    for other in reading.passages:
        if other is not place.passage and is_named(other, wanted):
            return float(other.name.lower() in place.passage.lower_text)
    return 0.0
