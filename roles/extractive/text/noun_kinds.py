"""Map common nouns to kinds of values; read an entity's description."""

import re
from enum import StrEnum
from typing import NamedTuple

from holdfast.roles.extractive.text.words_and_sentences import stem


class ValueKind(StrEnum):
    """The sort of thing that a value is."""

    PERSON = "person"
    PLACE = "place"
    GROUP = "group"
    WORK = "work"
    DATE = "date"
    YEAR = "year"
    NUMBER = "number"
    QUALITY = "quality"
    """What a thing is, in common nouns: a profession, a genre, a nationality."""
    PHRASE = "phrase"
    """What is said of something, in the words after its verb."""
    NAME = "name"
    """Anything with a name of its own."""
    ANY = "any"
    SENTENCE = "passage"
    """A whole sentence that speaks about what is asked."""


_NOUNS = {
    ValueKind.PERSON: "who whom person man woman actor actress author writer director singer "
    "player musician artist politician president king queen wife husband son daughter father "
    "mother brother sister composer producer founder coach footballer comedian poet "
    "scientist chemist physicist engineer architect owner leader member senator governor "
    "emperor officer criminal killer statesman astronaut drummer guitarist rapper star "
    "model host creator inventor performer character role lead boyfriend girlfriend "
    "colleague maintainer chairman ceo cfo cto coo cio dpo minister mayor editor explorer "
    "heir successor "
    "predecessor grandfather grandmother uncle aunt nephew cousin spouse child parent "
    "detective student designer builder maker captain commander commissioner worker "
    "sailor soldier treasurer speaker follower clergyman winner champion novelist painter "
    "lyricist screenwriter filmmaker songwriter lawyer",
    ValueKind.PLACE: "where city town country state county place location village province region "
    "continent island river lake ocean mountain district borough street address "
    "neighborhood neighbourhood municipality capital birthplace hometown territory nation "
    "venue tower port bay castle station peninsula stadium arena airport building area "
    "suburb resort ridge",
    ValueKind.GROUP: "company band team club organization organisation university college school "
    "agency institute association group party label studio channel network brand manufacturer "
    "publisher airline insurer league army ministry newspaper magazine firm vendor supplier "
    "institution brewery committee council commission court bureau union conglomerate "
    "orchestra corporation church bank hospital order dynasty family",
    ValueKind.WORK: "film movie album song book novel series show play musical opera poem story "
    "painting game documentary single soundtrack track record episode sitcom comedy drama thriller "
    "paper report article title anthology magazine",
    ValueKind.DATE: "when date day deadline birthday birthdate",
    ValueKind.YEAR: "year decade century",
    ValueKind.NUMBER: "number population amount age percentage percent price cost length height "
    "distance budget size rate count total temperature weight depth duration speed score "
    "capacity elevation area width thickness density voltage pressure frequency penalty fee "
    "salary ratio revenue turnover profit limit compensation tariff excess estimate share notice",
    ValueKind.QUALITY: "profession occupation genre nationality type kind language religion "
    "career instrument sport style degree field discipline ethnicity color colour "
    "material breed species common",
    ValueKind.SENTENCE: "passage mention sentence statement explanation summary reason cause",
    ValueKind.NAME: "thing entity link subject",
}
_PERSON_ENDINGS = (
    "nist",
    "tist",
    "list",
    "gist",
    "rist",
    "cist",
    "ian",
    "eer",
    "ress",
    "player",
    "man",
    "woman",
)


def _by_stem() -> dict[str, ValueKind]:
    kinds: dict[str, ValueKind] = {}
    for kind, nouns in _NOUNS.items():
        for noun in nouns.split():
            kinds.setdefault(stem(noun), kind)
    return kinds


_KIND_BY_STEM = _by_stem()
_KIND_BY_NOUN: dict[str, ValueKind] = {}
for _kind, _nouns in _NOUNS.items():
    for _noun in _nouns.split():
        _KIND_BY_NOUN.setdefault(_noun, _kind)


def kind_of_noun(noun: str) -> ValueKind | None:
    """The kind of value that a noun names; None if the noun is unknown."""
    if noun.lower().endswith(("ed", "ing")) and noun.lower() not in _KIND_BY_NOUN:
        return None  # `founded` is no founder
    known = _KIND_BY_NOUN.get(noun.lower()) or _KIND_BY_STEM.get(stem(noun))
    if known is None and len(noun) > 5 and noun.lower().endswith(_PERSON_ENDINGS):
        return ValueKind.PERSON
    return known


SEARCH_PREFIX = "Search for: "
"""The beginning of a search task's description."""


class EntityDescription(NamedTuple):
    """What an entity's description asks for; `subject` is the one thing it must be said of."""

    kind: ValueKind
    noun: str
    subject: str
    body: str


_LONGEST_HEAD = 100
_IN_BRACKETS = re.compile(r"\s*\((\w+)\)$")


def read_description(name: str, description: str, entity_type: str) -> EntityDescription:
    """An expected entity, read: `date of X: ...` asks for a date, said of X.

    The head is what stands before the first colon; where none does, the entity's name is the head.
    """
    head, colon, body = description[: 2 * _LONGEST_HEAD].partition(": ")
    if not colon or len(head) > _LONGEST_HEAD:
        head, body = "", description
    else:
        body = description[len(head) + 2 :]
    noun, _, subject = head.partition(" of ")
    said = _IN_BRACKETS.search(noun)
    noun = _IN_BRACKETS.sub("", noun).strip()
    if said is not None and said.group(1) in set(ValueKind):
        return EntityDescription(ValueKind(said.group(1)), noun, subject, body)
    for phrase in (noun, name.replace("_", " ")):
        for word in reversed(phrase.split()):
            kind = kind_of_noun(word.strip("()"))
            if kind is not None:
                return EntityDescription(kind, phrase, subject, body)
    kind = ValueKind.NUMBER if entity_type in ("integer", "number") else ValueKind.ANY
    return EntityDescription(kind, noun or name.replace("_", " "), subject, body)
