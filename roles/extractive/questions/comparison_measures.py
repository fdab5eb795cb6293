"""Decide whether a comparison goes by time, amount, place or a described property."""

import re
from enum import StrEnum

from holdfast.roles.extractive.questions.question_analysis import ParsedQuestion, QuestionShape
from holdfast.roles.extractive.text.measure_units import comparison_noun
from holdfast.roles.extractive.text.noun_kinds import ValueKind, kind_of_noun

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
    r"longest|farther|heavier|deeper|wider|faster|costlier|oftener|frequent\w*)\b",
    re.IGNORECASE,
)
_LESS = re.compile(
    r"\b(?:fewer|fewest|less|least|smaller|smallest|lower|lowest|shorter|shortest|cheaper|lighter|"
    r"slower|closer|nearer)\b",
    re.IGNORECASE,
)
_PLACES = re.compile(
    r"\b(?:country|city|town|state|continent|province|county|region|place|district)\b",
    re.IGNORECASE,
)


class ComparisonMeasure(StrEnum):
    """The measure by which two values are compared."""

    EARLIER = "earlier"
    LATER = "later"
    MORE = "more"
    LESS = "less"
    SAME = "same"
    PROPERTY = "property"


def comparison_measure(question: ParsedQuestion) -> ComparisonMeasure:
    """The measure by which the question compares."""
    text = question.text
    for pattern, found in (
        (_EARLY, ComparisonMeasure.EARLIER),
        (_LATE, ComparisonMeasure.LATER),
        (_MORE, ComparisonMeasure.MORE),
        (_LESS, ComparisonMeasure.LESS),
    ):
        if question.shape is QuestionShape.CHOICE and pattern.search(text):
            return found
    return ComparisonMeasure.SAME if question.same else ComparisonMeasure.PROPERTY


def side_kind(question: ParsedQuestion) -> ValueKind:
    """The type of value to find for each of the two things."""
    by = comparison_measure(question)
    if by in (ComparisonMeasure.EARLIER, ComparisonMeasure.LATER):
        return ValueKind.DATE
    if by in (ComparisonMeasure.MORE, ComparisonMeasure.LESS):
        return ValueKind.NUMBER
    shared = shared_noun(question)
    if by is ComparisonMeasure.SAME and shared and kind_of_noun(shared) in _SHARED_KINDS:
        return kind_of_noun(shared) or ValueKind.NAME
    if by is ComparisonMeasure.SAME and _PLACES.search(question.text):
        return ValueKind.PLACE
    if question.shape is QuestionShape.COMMON:
        return question.kind if question.kind in _OPEN_KINDS else ValueKind.QUALITY
    return ValueKind.SENTENCE


def side_noun(question: ParsedQuestion) -> str:
    """The noun of the value to find for each of the two things."""
    kind = side_kind(question)
    if kind is ValueKind.NUMBER:
        return comparison_noun(question.text) or kind.value
    if kind in _SHARED_KINDS and comparison_measure(question) is ComparisonMeasure.SAME:
        return shared_noun(question) or kind.value
    return question.noun if kind is question.kind and question.noun else kind.value


def shared_noun(question: ParsedQuestion) -> str:
    """The noun that both things may share: `firm` in `the same firm`."""
    found = _SAME_NOUN.search(question.text)
    return found.group(1) if found else ""


_SAME_NOUN = re.compile(r"\bsame (\w+)", re.IGNORECASE)
_SHARED_KINDS = (ValueKind.PERSON, ValueKind.GROUP, ValueKind.PLACE, ValueKind.YEAR, ValueKind.DATE)
_OPEN_KINDS = (
    ValueKind.PLACE,
    ValueKind.GROUP,
    ValueKind.WORK,
    ValueKind.QUALITY,
    ValueKind.YEAR,
    ValueKind.DATE,
    ValueKind.NUMBER,
)
