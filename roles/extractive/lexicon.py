"""What common nouns ask for: the words by which a question says the type of its answer."""

import re
from enum import StrEnum
from typing import NamedTuple

from roles.extractive.text import stem


class Kind(StrEnum):
    """What sort of thing a value is."""

    PERSON = "person"
    PLACE = "place"
    GROUP = "group"
    WORK = "work"
    DATE = "date"
    YEAR = "year"
    NUMBER = "number"
    QUALITY = "quality"
    """What a thing is, in common nouns: a profession, a genre, a nationality."""
    OFFICE = "office"
    """What somebody is appointed or elected to."""
    PHRASE = "phrase"
    """What is said of something, in the words after its verb."""
    NAME = "name"
    """Anything with a name of its own."""
    ANY = "any"
    SENTENCE = "passage"
    """A whole sentence that speaks about what is asked."""


_NOUNS = {
    Kind.PERSON: "who whom person man woman actor actress author writer director singer player "
    "musician artist politician president king queen wife husband son daughter father mother "
    "brother sister composer producer founder coach footballer comedian poet scientist chemist "
    "physicist engineer architect owner leader member senator governor emperor officer criminal "
    "killer statesman astronaut drummer guitarist rapper star model host creator inventor "
    "performer character role lead boyfriend girlfriend friend colleague manager chair maintainer "
    "chairman ceo minister mayor editor pilot explorer heir successor predecessor grandfather "
    "grandmother uncle aunt nephew niece cousin spouse child parent detective teacher student "
    "keeper designer builder maker captain commander commissioner assistant worker sailor "
    "soldier clerk secretary treasurer rector speaker follower clergyman "
    "winner champion novelist painter lyricist screenwriter filmmaker songwriter lawyer judge",
    Kind.PLACE: "where city town country state county place location village province region "
    "continent island river lake ocean sea mountain district borough street address site "
    "neighborhood neighbourhood municipality capital birthplace hometown territory nation venue "
    "light lighthouse tower harbour harbor port reef bay castle bridge station isle peninsula "
    "stadium arena airport room building land area suburb resort ridge",
    Kind.GROUP: "company band team club organization organisation university college school "
    "agency institute association group party label studio channel network brand manufacturer "
    "publisher airline league army department ministry newspaper magazine firm vendor supplier "
    "institution observatory glassworks ironworks shipyard brewery "
    "board assembly committee council commission court foundry works bureau union "
    "conglomerate orchestra corporation church bank hospital order dynasty family customer",
    Kind.WORK: "film movie album song book novel series show play musical opera poem story "
    "painting game documentary single soundtrack track record episode sitcom comedy drama thriller "
    "paper report article title anthology magazine",
    Kind.DATE: "when date day deadline birthday birthdate",
    Kind.YEAR: "year decade century",
    Kind.NUMBER: "number population amount age percentage percent price cost length height "
    "distance budget size rate count total temperature weight depth duration speed score "
    "capacity elevation area width thickness",
    Kind.QUALITY: "profession occupation genre nationality type kind language religion "
    "career instrument sport style degree field discipline ethnicity color colour "
    "material breed species common",
    Kind.OFFICE: "office post position title rank job appointment",
    Kind.SENTENCE: "passage mention sentence statement explanation summary reason cause",
    Kind.NAME: "thing entity link subject",
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


def _by_stem() -> dict[str, Kind]:
    kinds: dict[str, Kind] = {}
    for kind, nouns in _NOUNS.items():
        for noun in nouns.split():
            kinds.setdefault(stem(noun), kind)
    return kinds


_KINDS = _by_stem()
_LITERAL: dict[str, Kind] = {}
for _kind, _nouns in _NOUNS.items():
    for _noun in _nouns.split():
        _LITERAL.setdefault(_noun, _kind)


def kind_of_noun(noun: str) -> Kind | None:
    """What a value named by this noun is; nothing when the noun does not say."""
    if noun.lower().endswith(("ed", "ing")) and noun.lower() not in _LITERAL:
        return None  # `founded` is no founder
    known = _LITERAL.get(noun.lower()) or _KINDS.get(stem(noun))
    if known is None and len(noun) > 5 and noun.lower().endswith(_PERSON_ENDINGS):
        return Kind.PERSON
    return known


SEARCH_FOR = "Search for: "
"""How the description of a search begins; what is searched for follows."""


class Asked(NamedTuple):
    """What an entity's description asks for; `subject` is the one thing it must be said of."""

    kind: Kind
    noun: str
    subject: str
    body: str


_LONGEST_HEAD = 100
_IN_BRACKETS = re.compile(r"\s*\((\w+)\)$")


def read_description(name: str, description: str, entity_type: str) -> Asked:
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
    if said is not None and said.group(1) in set(Kind):
        return Asked(Kind(said.group(1)), noun, subject, body)
    for phrase in (noun, name.replace("_", " ")):
        for word in reversed(phrase.split()):
            kind = kind_of_noun(word.strip("()"))
            if kind is not None:
                return Asked(kind, phrase, subject, body)
    kind = Kind.NUMBER if entity_type in ("integer", "number") else Kind.ANY
    return Asked(kind, noun or name.replace("_", " "), subject, body)
