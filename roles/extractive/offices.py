"""Offices: what somebody was appointed, elected or made, and whether the words name an office."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from roles.extractive.lexicon import Kind, kind_of_noun
from roles.extractive.text import words

_INTO = re.compile(
    r"\b(?:appointed|named|elected|made|chosen|nominated|ordained|crowned|installed|"
    r"promoted|became|becomes?|becoming|"
    r"(?:serv|work|act|return|elect|appoint)(?:ed|es|s|ing) as|sworn in as|"
    r"(?:office|post|position|title|rank|role|job) (?:of|as)|(?P<weak>was|is|were|as|remained))\s+"
    r"(?:as |to )?(?:(?:the|an?|its|his|her|their)\s+)?(?:one of the\s+)?"
    r"(?P<office>[^.;:()\"“”]{3,90})",
)
_ENDS = re.compile(
    r",| (?:from|until|till|by|when|who|that|which|whose|at|after|before|on|with|while|during|"
    r"since|under|between|because|where|but|and (?=[a-z])|in (?=\d|the year|[A-Z][a-z]+ \d)|"
    r"for (?=\d|\w+ (?:years?|months?|terms?))|and served|and held)"
)
_BEFORE_JOINT = re.compile(r"\s(?:of|to|for|in|and)\s")
_ENDINGS = """
er or man woman ian nist tist gist rist list ident agent endent ant eer ary tain chief den ess eral
rshal egate didate vocate strate judge dean
"""
_AGENT = re.compile(rf"(?:{'|'.join(_ENDINGS.split())})$", re.IGNORECASE)
_NO_AGENT = re.compile(
    r"^(?:after|over|under|never|rather|either|other|further|later|former|first)$"
)


class Office(NamedTuple):
    """An office as it stands in a text."""

    name: str
    start: int
    is_said: bool
    """Whether the verb says that it is one, as `elected` does and `was` does not."""


def offices(text: str) -> Iterator[Office]:
    """Every office that the text says somebody came into or held."""
    at = 0
    while (found := _INTO.search(text, at)) is not None:
        at = found.start("office")
        phrase = _ENDS.split(found.group("office"), maxsplit=1)[0].strip()
        if is_office(phrase) and not _IS_VERB.match(phrase):
            yield Office(phrase, at, found.group("weak") is None)


def is_office(phrase: str) -> bool:
    """Whether the phrase's head is a noun for somebody who does something."""
    head = head_of(phrase)
    if not head or _NO_AGENT.match(head.lower()) or len(phrase.split()) > _LONGEST:
        return False
    return kind_of_noun(head) is Kind.PERSON or (len(head) > 3 and _AGENT.search(head) is not None)


_LONGEST = 10
_IS_VERB = re.compile(
    r"(?:appointed|elected|named|made|chosen|nominated|promoted|returned|ordained|crowned)\b"
)


def head_of(phrase: str) -> str:
    """The noun that the rest of the phrase only tells more of: `Speaker` of a house."""
    said = words(_BEFORE_JOINT.split(phrase, maxsplit=1)[0])
    return said[-1].text if said else ""
