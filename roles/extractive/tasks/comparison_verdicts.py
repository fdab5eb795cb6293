"""Compare two values, find their common part, or check a yes/no question."""

import re
from typing import TypeAlias

from holdfast.roles.extractive.questions.comparison_measures import (
    ComparisonMeasure,
    comparison_measure,
    side_kind,
)
from holdfast.roles.extractive.questions.question_analysis import ParsedQuestion
from holdfast.roles.extractive.text.dates_and_amounts import first_amount, first_date
from holdfast.roles.extractive.text.noun_kinds import ValueKind
from holdfast.roles.extractive.text.value_candidates import descriptions_after_is
from holdfast.roles.extractive.text.words_and_sentences import stem, stems, words

RuleConclusion: TypeAlias = tuple[str | None, float, str]
"""A value, how sure it is, and the step that led to it."""


def compare_choice(question: ParsedQuestion, one: str, two: str) -> RuleConclusion:
    """Choose one of two things, by a measure or by the words read about each."""
    pair = question.pair or ("", "")
    by = comparison_measure(question)
    if by in (ComparisonMeasure.MORE, ComparisonMeasure.LESS):
        silent = next((each for each in (one, two) if not _tells_of(question, each)), None)
        if silent is not None:
            return None, 0.0, f"This says nothing of what is compared: {silent}."
    at = _by_measure(by, one, two)
    if at is not None:
        step = f"{pair[0]}: {one}; {pair[1]}: {two}; {by.value}: {pair[at]}."
        return pair[at], 0.8, step
    if by not in (ComparisonMeasure.SAME, ComparisonMeasure.PROPERTY) and not _can_be_compared(
        by, one, two
    ):
        return None, 0.0, f"These cannot be compared: {one}; {two}."
    told = _question_stems(question)
    shares = [_shared_count(told, each) for each in (one, two)]
    if shares[0] == shares[1]:
        return f"{pair[0]}: {one}; {pair[1]}: {two}", 0.7, "Nothing found tells the two apart."
    at = 0 if shares[0] > shares[1] else 1
    return pair[at], 0.7, f"What was read of {pair[at]} says more of what is asked."


def _tells_of(question: ParsedQuestion, value: str) -> bool:
    """False for a sentence with hardly a word of what is compared: its number is another."""
    told = _question_stems(question)
    if len(value.split()) <= _LONGEST_VALUE or len(told) <= _SHORT_QUESTION:
        return True
    return _shared_count(told, value) * 3 > len(told)


def _can_be_compared(by: ComparisonMeasure, one: str, two: str) -> bool:
    read = (
        first_date if by in (ComparisonMeasure.EARLIER, ComparisonMeasure.LATER) else first_amount
    )
    return read(one) is not None and read(two) is not None


def _by_measure(by: ComparisonMeasure, one: str, two: str) -> int | None:
    """The index of the value that wins by time or amount; None for a tie or no value."""
    if by in (ComparisonMeasure.EARLIER, ComparisonMeasure.LATER):
        return _first_if(by is ComparisonMeasure.EARLIER, first_date(one), first_date(two))
    if by in (ComparisonMeasure.MORE, ComparisonMeasure.LESS):
        return _first_if(by is ComparisonMeasure.LESS, first_amount(one), first_amount(two))
    return None


def _first_if(
    wants_less: bool, one: tuple[float, ...] | None, two: tuple[float, ...] | None
) -> int | None:
    if one is None or two is None or one == two:
        return None
    return 0 if (one < two) == wants_less else 1


def _question_stems(question: ParsedQuestion) -> frozenset[str]:
    """Return the words of the question without the two things compared."""
    text = question.text
    for name in question.pair or ():
        text = text.replace(name, " ")
    return frozenset(stems(text))


def check_both(question: ParsedQuestion, one: str, two: str) -> RuleConclusion:
    """Decide if the question's statement holds for both things."""
    if question.same and side_kind(question) is not ValueKind.SENTENCE:
        return _equal(question, one, two)
    if question.same:
        shared = _shared(one, two)
        verdict = "yes" if shared else "no"
        return verdict, 0.7, f"In both: {', '.join(shared) or 'nothing'}."
    told = _question_stems(question)
    open_ones = [each for each in (one, two) if not _says(told, each)]
    if not open_ones:
        return "yes", 0.75, "What was read of each says the question's words."
    if any(any(descriptions_after_is(each)) for each in open_ones):
        return "no", 0.7, f"It says what it is, and that is something else: {open_ones[0]}"
    return NOT_SHOWN, 0.7, f"Neither confirmed nor denied: {open_ones[0]}"


def _equal(question: ParsedQuestion, one: str, two: str) -> RuleConclusion:
    """Decide if two found values are equal."""
    pair = question.pair or ("", "")
    told = f"{pair[0]}: {one}; {pair[1]}: {two}"
    if max(len(one.split()), len(two.split())) > _LONGEST_VALUE:
        return None, 0.0, f"No value was found for both. {told}"
    is_same = frozenset(stems(one)) == frozenset(stems(two))
    return ("yes" if is_same else "no"), 0.8, told


_LONGEST_VALUE = 8
_SHORT_QUESTION = 2
"""With so few words, as in `Which is longer`, a passage may say none of them."""
NOT_SHOWN = "not shown in what was read"
"""The verdict if a passage neither confirms nor denies: silence is no denial."""


def _says(told: frozenset[str], value: str) -> bool:
    """True if the value says at least half of the question's words."""
    return not told or _shared_count(told, value) * 2 >= len(told)


def _shared_count(told: frozenset[str], value: str) -> int:
    """How many of the words the value says, `Swiss` for `Switzerland` included."""
    said = frozenset(stems(value))
    return sum(any(_alike(each, other) for other in said) for each in told)


def _alike(one: str, other: str) -> bool:
    return one == other or (len(one) > 4 and len(other) > 4 and one[:5] == other[:5])


def _shared(one: str, two: str) -> list[str]:
    there = frozenset(stems(two))
    return list(
        dict.fromkeys(w.text for w in words(one) if stem(w.text) in there and stems(w.text))
    )


def find_common_part(question: ParsedQuestion, one: str, two: str) -> RuleConclusion:
    """The words that two values share."""
    if one and one == two:
        return one, 0.85, "Both values are the same."
    shared = _shared(one, two)
    if not shared:
        pair = question.pair or ("", "")
        return f"{pair[0]}: {one}; {pair[1]}: {two}", 0.7, "The two values share no word."
    return " ".join(shared), 0.75, f"In both: {', '.join(shared)}."


def check_statement(question: ParsedQuestion, value: str) -> RuleConclusion:
    """`yes` if a passage confirms the question; the passage itself if it denies it."""
    says = _says(frozenset(stems(question.text)), value) and _has_numbers(question.text, value)
    if not says:
        return None, 0.0, f"What was read neither says nor denies it: {value}"
    denies = bool(_NEGATION.search(value)) != bool(_NEGATION.search(question.text))
    return value if denies else "yes", 0.7, f"Read: {value}"


def _has_numbers(question: str, value: str) -> bool:
    """True if each number of the question stands in the value: ISO 9001 is not ISO 14001."""
    return set(_DIGITS.findall(question)) <= set(_DIGITS.findall(value))


_DIGITS = re.compile(r"\d+")
_NEGATION = re.compile(
    r"\b(?:not|never|no|nobody|none|neither|cannot|without)\b|n['’]t\b", re.IGNORECASE
)
