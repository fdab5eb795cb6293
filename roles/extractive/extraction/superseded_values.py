"""Replace a value that another sentence says was changed: an amendment moves the end of a term."""

import re
from collections.abc import Iterator

from holdfast.roles.extractive.extraction.candidate_scoring import ScoredCandidate
from holdfast.roles.extractive.extraction.changed_values import value_after_change
from holdfast.roles.extractive.extraction.entity_query import EntityQuery, SentenceMatch
from holdfast.roles.extractive.extraction.response_passages import (
    ParsedResponse,
    ResponsePassage,
    ResponseSentence,
)
from holdfast.roles.extractive.extraction.sentence_beginnings import is_word_at_beginning
from holdfast.roles.extractive.text.measure_units import is_amount_of_money
from holdfast.roles.extractive.text.noun_kinds import ValueKind
from holdfast.roles.extractive.text.value_candidates import find_candidates, proper_names
from holdfast.roles.extractive.text.words_and_sentences import stems

_MOST_CHANGES = 5
"""Changes that are followed: a term may be extended more than once."""
_DAY = re.compile(r"\d{1,2}\D.*\d{4}|[A-Za-z]+ \d{1,2}\D.*\d{4}|\d{4}-\d{2}-\d{2}")
"""A day of a year, or an amount of money: any other value may stand for many things."""


def present_value(
    found: ScoredCandidate, wanted: EntityQuery, reading: ParsedResponse
) -> ScoredCandidate:
    """Return the value that holds today, with the sentence that says so; else what was found."""
    seen = {found.value}
    for _ in range(_MOST_CHANGES):
        changed = next(_changes(found.value, found.place, wanted, reading), None)
        if changed is None:
            break
        found = ScoredCandidate(changed[0], changed[1], found.score, found.features)
        if found.value in seen:
            break  # it was moved back
        seen.add(found.value)
    return found


def present_sentence(
    place: SentenceMatch, wanted: EntityQuery, reading: ParsedResponse
) -> SentenceMatch:
    """Return the sentence that changes what this one says, if there is one; else this one."""
    values = [each.value for each in find_candidates(place.sentence.text)]
    changes = (each for value in values for each in _changes(value, place, wanted, reading))
    return next((changed for _, changed in changes), place)


def _changes(
    value: str, place: SentenceMatch, wanted: EntityQuery, reading: ParsedResponse
) -> Iterator[tuple[str, SentenceMatch]]:
    """Yield what other sentences about the same say that the value changed to."""
    if not (_DAY.fullmatch(value) or is_amount_of_money(value)):
        return
    for passage in reading.passages:
        if value not in passage.text or not wanted.named <= passage.stems:
            continue
        for sentence in passage.sentences:
            if value in sentence.text and _may_change(sentence, passage, place, wanted, reading):
                after = _after(sentence, value, wanted, passage)
                if after:
                    yield after, SentenceMatch(passage, sentence, 1.0, 1.0, is_named=False)


def _may_change(
    sentence: ResponseSentence,
    passage: ResponsePassage,
    place: SentenceMatch,
    wanted: EntityQuery,
    reading: ParsedResponse,
) -> bool:
    """True if the sentence tells a change that was made, of what is asked and of nothing else.

    Where neither it nor the title says the asked name, the last sentence with a name has to.
    """
    if sentence is place.sentence or _UNSURE.search(sentence.text):
        return False
    asked = wanted.known | place.sentence.stems | place.passage.title_stems
    if not _names(sentence, reading) <= asked:
        return False
    follows = passage is place.passage and sentence.order == place.sentence.order + 1
    if follows or wanted.named <= sentence.stems | passage.title_stems:
        return True
    before = (_names(each, reading) for each in reversed(passage.sentences[: sentence.order]))
    last = next((names for names in before if names), frozenset[str]())
    return wanted.named <= last <= asked


def _names(sentence: ResponseSentence, reading: ParsedResponse) -> frozenset[str]:
    """The words of the names in a sentence."""
    text = sentence.text
    names = (
        each.value for each in proper_names(text) if not is_word_at_beginning(each, text, reading)
    )
    return frozenset(stems(" ".join(names)))


_UNSURE = re.compile(
    r"\b(?i:not|cannot|\w+n['’]t|never|(?:refus|reject|declin|propos|request|suggest|ask)\w*|might|"
    r"could|would|if|unless|plan\w* to)\b|\bmay\b"
)
"""A change that was not made, or may not be; `May` is a month."""


def _after(
    sentence: ResponseSentence, value: str, wanted: EntityQuery, passage: ResponsePassage
) -> str:
    """What the value changed to, if the sentence speaks of what is asked, its heading aside."""
    if wanted.kind not in (ValueKind.DATE, ValueKind.NUMBER, ValueKind.SENTENCE):
        return ""
    about = passage.title_stems | wanted.named
    if not ((wanted.relation | wanted.noun) - about) & sentence.stems:
        return ""
    return value_after_change(sentence.text, wanted.lower_text, value)
