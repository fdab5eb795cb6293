"""What two things are compared by: time, amount, place, or a property said in words."""

import re
from enum import StrEnum

from roles.extractive.lexicon import Kind, kind_of_noun
from roles.extractive.measures import compared
from roles.extractive.questions import Question, Shape

_TIME = (
    r"first|earli\w+|older|oldest|younger|youngest|later|latest|newer|newest|recent\w*|before|after"
    r"|born|founded|established|released|sooner|longer ago"
)
_EARLY = re.compile(r"\b(?:first|earli\w+|older|oldest|elder|before|sooner)\b", re.IGNORECASE)
_LATE = re.compile(
    r"\b(?:later|latest|younger|youngest|newer|newest|recent\w*|last)\b", re.IGNORECASE
)
_MORE = re.compile(
    r"\b(?:more|most|larger|largest|bigger|biggest|higher|highest|greater|taller|tallest|longer|"
    r"longest|farther|heavier|deeper|wider|faster|costlier|oftener|frequent\w*)\b", re.IGNORECASE,
)  # fmt: skip
_LESS = re.compile(
    r"\b(?:fewer|fewest|less|least|smaller|smallest|lower|lowest|shorter|shortest|cheaper|lighter|"
    r"slower|closer|nearer)\b", re.IGNORECASE,
)  # fmt: skip
_PLACES = re.compile(
    r"\b(?:country|city|town|state|continent|province|county|region|place|district)\b",
    re.IGNORECASE,
)


class Measure(StrEnum):
    """How the two values decide."""

    EARLIER = "earlier"
    LATER = "later"
    MORE = "more"
    LESS = "less"
    SAME = "same"
    PROPERTY = "property"


def measure(question: Question) -> Measure:
    """What decides between the two things."""
    text = question.text
    for pattern, found in (
        (_EARLY, Measure.EARLIER), (_LATE, Measure.LATER),
        (_MORE, Measure.MORE), (_LESS, Measure.LESS),
    ):  # fmt: skip
        if question.shape is Shape.CHOICE and pattern.search(text):
            return found
    return Measure.SAME if question.same else Measure.PROPERTY


def side_kind(question: Question) -> Kind:
    """The type of value to find for each of the two things."""
    by = measure(question)
    if by in (Measure.EARLIER, Measure.LATER):
        return Kind.DATE
    if by in (Measure.MORE, Measure.LESS):
        return Kind.NUMBER
    shared = same_noun(question)
    if by is Measure.SAME and shared and kind_of_noun(shared) in _SHARED:
        return kind_of_noun(shared) or Kind.NAME
    if by is Measure.SAME and _PLACES.search(question.text):
        return Kind.PLACE
    if question.shape is Shape.COMMON:
        return question.kind if question.kind in _OPEN else Kind.QUALITY
    return Kind.SENTENCE


def side_noun(question: Question) -> str:
    """What the value to find for each of the two things is called."""
    kind = side_kind(question)
    if kind is Kind.NUMBER:
        return compared(question.text) or kind.value
    if kind in _SHARED and measure(question) is Measure.SAME:
        return same_noun(question) or kind.value
    return question.noun if kind is question.kind and question.noun else kind.value


def same_noun(question: Question) -> str:
    """The noun that the two things are asked to share: `the same firm`."""
    found = _SAME_NOUN.search(question.text)
    return found.group(1) if found else ""


_SAME_NOUN = re.compile(r"\bsame (\w+)", re.IGNORECASE)
_SHARED = (Kind.PERSON, Kind.GROUP, Kind.PLACE, Kind.YEAR, Kind.DATE)
_OPEN = (Kind.PLACE, Kind.GROUP, Kind.WORK, Kind.QUALITY, Kind.YEAR, Kind.DATE, Kind.NUMBER)
