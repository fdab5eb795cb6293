"""Read a value out of the one sentence that states it: that says what the question asks.

A sentence says what is asked if it, its heading and its document's title have most words of the
question; names and dates may stand elsewhere in the passage. The sentence must leave no choice: it
has one value of the asked kind, or a word next to one of its values says that it is the asked one.
"""

import re
from collections.abc import Iterator, Sequence, Set
from typing import NamedTuple

from holdfast.roles.extractive.extraction.candidate_scoring import ScoredCandidate
from holdfast.roles.extractive.extraction.changed_values import asked_candidates
from holdfast.roles.extractive.extraction.entity_query import EntityQuery, SentenceMatch, is_known
from holdfast.roles.extractive.extraction.response_passages import (
    ParsedResponse,
    ResponsePassage,
    ResponseSentence,
)
from holdfast.roles.extractive.extraction.type_matching import type_fit
from holdfast.roles.extractive.extraction.value_doubts import SAID_PLAINLY
from holdfast.roles.extractive.text.measure_units import is_amount_of_money, is_money
from holdfast.roles.extractive.text.noun_kinds import ValueKind
from holdfast.roles.extractive.text.value_candidates import ValueCandidate
from holdfast.roles.extractive.text.words_and_sentences import stem, stems

PLAIN_CONFIDENCE = 0.85
"""Of a value in the one sentence that says what is asked."""
_KINDS = (ValueKind.NUMBER, ValueKind.DATE, ValueKind.YEAR, ValueKind.PERSON)
_ENOUGH = 0.8
_LEAST_WORDS = 2
_GOOD_FIT = 0.8
_HAPPENING = frozenset(
    map(stem, ("happen", "happened", "occur", "occurred", "take", "took", "place"))
)
_SAID_OF_PAYMENT = frozenset(map(stem, ("pay", "paid", "charge", "cost", "owe")))
_MOST = re.compile(r"\b(?:most|maximum|highest|limit|up to|at most)\b", re.IGNORECASE)
_LEAST = re.compile(r"\b(?:least|minimum|lowest|at least)\b", re.IGNORECASE)
_BOUND = re.compile(r"\bat (?:most|least)\b")
_UP_TO = re.compile(
    r"\b(?:at most|up to|no more than|not more than|maximum(?: of)?)\s*$", re.IGNORECASE
)
_AT_LEAST = re.compile(
    r"\b(?:at least|no less than|not less than|minimum(?: of)?)\s*$", re.IGNORECASE
)
_CHANGED_BY = re.compile(r"\bby\s*$", re.IGNORECASE)
_CHANGED_TO = re.compile(r",?\s*\bto\s*$", re.IGNORECASE)
_CHANGES = (
    r"(?:fall|fell|rise|rose|drop|dropped|increase|increased|decrease|decreased|grow|grew|shrink|"
    r"shrank|change|changed|reduce|reduced|reduction)s?"
)
_ASKS_CHANGE = re.compile(
    rf"\bby how (?:much|many)\b|\bhow (?:much|many)\b.*\b{_CHANGES}\b|\b{_CHANGES} (?:in|of)\b",
    re.IGNORECASE,
)
_BACKWARD = re.compile(r"^\W*(?:it|they|he|she|this|these)\b", re.IGNORECASE)
_NUMBERED = re.compile(r"\b(\w+) (?:no\.|nr\.|number) ?([A-Z0-9][\w/-]*\d[\w/-]*)")
_LABELLED_BY = re.compile(r"^\W*(?:[\w-]+ ){0,3}by: (?:[A-Z][a-z]{0,3}\. )?$", re.IGNORECASE)
_CLAUSE_END = re.compile(r"[;:]|,(?!\d)|\band\b")
_DATED = re.compile(r"^\W*date\W", re.IGNORECASE)


class _Stated(NamedTuple):
    """A value, how many of the asked words its sentence and title say, and where it stands."""

    words: int
    value: str
    is_identifier: bool
    passage: ResponsePassage
    sentence: ResponseSentence


def plain_value(reading: ParsedResponse, wanted: EntityQuery) -> ScoredCandidate | None:
    """Return the value that one sentence states; None if none does, or sentences disagree."""
    if wanted.kind not in _KINDS or wanted.subject or wanted.measure in SAID_PLAINLY:
        return None
    found = sorted(_stated_values(reading, wanted), key=lambda each: -each.words)
    if not found:
        return None
    found = [each for each in found if each.is_identifier] or found
    first = found[0]
    if any(each.words == first.words and each.value != first.value for each in found[1:]):
        return None
    place = SentenceMatch(first.passage, first.sentence, 1.0, 1.0, is_named=False)
    return ScoredCandidate(first.value, place, 0.0)


def _stated_values(reading: ParsedResponse, wanted: EntityQuery) -> Iterator[_Stated]:
    asked = _asked_words(wanted)
    if len(asked) < _LEAST_WORDS:
        return
    anywhere = frozenset(each for each in asked if each in wanted.named or each.isdigit())
    for passage in reading.passages:
        if len(anywhere & passage.stems) < _ENOUGH * len(anywhere):
            continue
        about = passage.title_stems | frozenset(stems(passage.heading))
        before: frozenset[str] = frozenset()
        for sentence in passage.sentences:
            own = sentence.stems | (before if _BACKWARD.match(sentence.text) else frozenset())
            before = sentence.stems
            said = asked & (own | about)
            if len(said | anywhere) < _ENOUGH * len(asked) or not _says_itself(
                sentence, asked - anywhere, wanted
            ):
                continue
            named = _identifier(sentence.text, wanted)
            value = named or _value_of(sentence.text, wanted)
            if value is not None:
                yield _Stated(len(said), value, named is not None, passage, sentence)


def _asked_words(wanted: EntityQuery) -> frozenset[str]:
    """The words that a statement has to say: not those for which each text has its own."""
    asked = wanted.about | wanted.noun
    if is_money(wanted.measure):
        asked -= _SAID_OF_PAYMENT
    if wanted.kind in (ValueKind.DATE, ValueKind.YEAR):
        asked -= _HAPPENING
    if wanted.measure == "number":
        asked -= {stem("number")}
    return asked - {stem(each) for each in ("most", "least", "much", "many")}


def _says_itself(sentence: ResponseSentence, relation: Set[str], wanted: EntityQuery) -> bool:
    """True if the sentence, not its title alone, speaks of what is asked."""
    is_dated = wanted.kind is ValueKind.DATE and _DATED.match(sentence.text) is not None
    return is_dated or bool(relation & sentence.stems)


def _value_of(text: str, wanted: EntityQuery) -> str | None:
    """The one value in the sentence that can be meant."""
    every = asked_candidates(text, wanted.lower_text)
    fitting = [each for each in every if _fits(each, wanted)]
    if wanted.kind is ValueKind.PERSON:
        # Elsewhere a name may stand in any part of a sentence that says what is asked.
        fitting = [each for each in fitting if _LABELLED_BY.search(text[: each.start])]
    whole = [
        each
        for each in fitting
        if not any(other is not each and _contains(other, each) for other in fitting)
    ]
    for choose in (_bounded, _changed, _counted, _of_clause):
        chosen = choose(text, whole, wanted)
        if chosen:
            whole = chosen
    values = {each.value for each in whole}
    return values.pop() if len(values) == 1 else None


def _identifier(text: str, wanted: EntityQuery) -> str | None:
    """The number by which the asked thing is filed: `Contract no. S-07`."""
    if wanted.measure != "number":
        return None
    said = {
        each.group(2) for each in _NUMBERED.finditer(text) if stem(each.group(1)) in wanted.known
    }
    return said.pop() if len(said) == 1 else None


def _fits(candidate: ValueCandidate, wanted: EntityQuery) -> bool:
    if is_known(candidate, wanted.known):
        return False
    if is_money(wanted.measure) and not is_amount_of_money(candidate.value):
        return False
    return type_fit(candidate, wanted) >= _GOOD_FIT


def _contains(one: ValueCandidate, other: ValueCandidate) -> bool:
    return one.start <= other.start and other.end <= one.end and one != other


def _bounded(
    text: str, every: Sequence[ValueCandidate], wanted: EntityQuery
) -> list[ValueCandidate]:
    """Who asks for the most gets what is `at most`, unless the sentence names the asked limit."""
    for asks, says in ((_MOST, _UP_TO), (_LEAST, _AT_LEAST)):
        asked = asks.search(wanted.lower_text)
        if asked and asked.group().lower() not in _BOUND.sub("", text.lower()):
            return [each for each in every if says.search(text[: each.start])]
    return []


def _changed(
    text: str, every: Sequence[ValueCandidate], wanted: EntityQuery
) -> list[ValueCandidate]:
    """What falls by an amount to another one is the other one, unless the change is asked."""
    if not any(_CHANGED_BY.search(text[: each.start]) for each in every):
        return []
    says = _CHANGED_BY if _ASKS_CHANGE.search(wanted.lower_text) else _CHANGED_TO
    return [each for each in every if says.search(text[: each.start])]


def _counted(
    text: str, every: Sequence[ValueCandidate], wanted: EntityQuery
) -> list[ValueCandidate]:
    """The amounts next to the asked noun: `two major findings`, `Revenue £11.9 million`."""
    if wanted.kind is not ValueKind.NUMBER or not wanted.noun:
        return []
    return [
        each
        for each in every
        if wanted.noun & frozenset(stems(each.value))
        or wanted.noun & frozenset(stems(" ".join(text[each.end :].split()[:2])))
        or wanted.noun & frozenset(stems(" ".join(text[: each.start].split()[-2:])))
    ]


def _of_clause(
    text: str, every: Sequence[ValueCandidate], wanted: EntityQuery
) -> list[ValueCandidate]:
    """The amounts whose clause says most of what is asked; dates have rules of their own."""
    if wanted.kind is not ValueKind.NUMBER:
        return []
    asked = wanted.about | wanted.noun
    ends = [found.end() for found in _CLAUSE_END.finditer(text)]
    said: dict[int, frozenset[str]] = {}
    for at, each in enumerate(every):
        start = max((end for end in ends if end <= each.start), default=0)
        end = min((end for end in ends if end >= each.end), default=len(text))
        said[at] = asked & frozenset(stems(text[start:end]))
    most = max((len(words) for words in said.values()), default=0)
    return [each for at, each in enumerate(every) if len(said[at]) == most]
