"""Verdicts over values that were read: which of two, both or not, what is shared, yes or no."""

import re
from typing import TypeAlias

from roles.extractive.candidates import qualities
from roles.extractive.comparing import Measure, measure, side_kind
from roles.extractive.lexicon import Kind
from roles.extractive.questions import Question
from roles.extractive.text import stem, stems, words
from roles.extractive.values import how_much, when

Conclusion: TypeAlias = tuple[str | None, float, str]
"""A value, how sure it is, and the step that led to it."""


def choose(question: Question, one: str, two: str) -> Conclusion:
    """Which of two things it is, by measure or by what was read of each."""
    pair = question.pair or ("", "")
    by = measure(question)
    at = _by_measure(by, one, two)
    if at is not None:
        apart = _how_far_apart(question, one, two)
        if apart:
            said = f"{pair[at]}, by {apart} ({(one, two)[at]} against {(one, two)[1 - at]})"
            return said, 0.8, f"{pair[0]}: {one}; {pair[1]}: {two}."
        step = f"{pair[0]}: {one}; {pair[1]}: {two}; {by.value}: {pair[at]}."
        return pair[at], 0.8, step
    if by not in (Measure.SAME, Measure.PROPERTY) and not _can_be_compared(by, one, two):
        return None, 0.0, f"These cannot be compared: {one}; {two}."
    told = _told(question)
    shares = [_shared_count(told, each) for each in (one, two)]
    if shares[0] == shares[1]:
        return f"{pair[0]}: {one}; {pair[1]}: {two}", 0.7, "Nothing found tells the two apart."
    at = 0 if shares[0] > shares[1] else 1
    return pair[at], 0.7, f"What was read of {pair[at]} says more of what is asked."


def _can_be_compared(by: Measure, one: str, two: str) -> bool:
    read = when if by in (Measure.EARLIER, Measure.LATER) else how_much
    return read(one) is not None and read(two) is not None


def _how_far_apart(question: Question, one: str, two: str) -> str:
    """`4 metres`, where the question asks by how many."""
    asked = re.search(r"\bby how (?:many|much)\s*(\w*)", question.text, re.IGNORECASE)
    amounts = how_much(one), how_much(two)
    if asked is None or amounts[0] is None or amounts[1] is None:
        return ""
    return f"{abs(amounts[0][0] - amounts[1][0]):,g} {asked.group(1)}".strip()


def _by_measure(by: Measure, one: str, two: str) -> int | None:
    """Which of two values has it, by time or amount; nothing where they do not decide."""
    if by in (Measure.EARLIER, Measure.LATER):
        return _first_if(by is Measure.EARLIER, when(one), when(two))
    if by in (Measure.MORE, Measure.LESS):
        return _first_if(by is Measure.LESS, how_much(one), how_much(two))
    return None


def _first_if(
    wants_less: bool, one: tuple[float, ...] | None, two: tuple[float, ...] | None
) -> int | None:
    if one is None or two is None or one == two:
        return None
    return 0 if (one < two) == wants_less else 1


def _told(question: Question) -> frozenset[str]:
    """The words of the question beside the two things compared."""
    text = question.text
    for name in question.pair or ():
        text = text.replace(name, " ")
    return frozenset(stems(text))


def both(question: Question, one: str, two: str) -> Conclusion:
    """Whether both things are what is asked."""
    if question.same and side_kind(question) is not Kind.SENTENCE:
        return _equal(question, one, two)
    if question.same:
        shared = _shared(one, two)
        verdict = "yes" if shared else "no"
        return verdict, 0.7, f"In both: {', '.join(shared) or 'nothing'}."
    told = _told(question)
    open_ones = [each for each in (one, two) if not _says(told, each)]
    if not open_ones:
        return "yes", 0.75, "What was read of each says the question's words."
    if any(any(qualities(each)) for each in open_ones):
        return "no", 0.7, f"It says what it is, and that is something else: {open_ones[0]}"
    return NOT_SHOWN, 0.7, f"Neither confirmed nor denied: {open_ones[0]}"


def _equal(question: Question, one: str, two: str) -> Conclusion:
    """Whether two values, both found, are the same one."""
    pair = question.pair or ("", "")
    told = f"{pair[0]}: {one}; {pair[1]}: {two}"
    if max(len(one.split()), len(two.split())) > _LONGEST_VALUE:
        return None, 0.0, f"No value was found for both. {told}"
    is_same = frozenset(stems(one)) == frozenset(stems(two))
    return ("yes" if is_same else "no"), 0.8, told


_LONGEST_VALUE = 8
NOT_SHOWN = "not shown in what was read"
"""Where a passage neither says it nor says what the thing is instead: silence is no denial."""


def _says(told: frozenset[str], value: str) -> bool:
    """Whether the value says at least half of the question's words."""
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


def common(question: Question, one: str, two: str) -> Conclusion:
    """What two values share."""
    if one and one == two:
        return one, 0.85, "Both values are the same."
    shared = _shared(one, two)
    if not shared:
        pair = question.pair or ("", "")
        return f"{pair[0]}: {one}; {pair[1]}: {two}", 0.7, "The two values share no word."
    return " ".join(shared), 0.75, f"In both: {', '.join(shared)}."


def check(question: Question, value: str) -> Conclusion:
    """Whether a passage says what is asked; it is quoted where it does not."""
    says = _says(frozenset(stems(question.text)), value)
    if not says:
        return None, 0.0, f"What was read neither says nor denies it: {value}"
    denies = bool(_NEGATION.search(value)) != bool(_NEGATION.search(question.text))
    return value if denies else "yes", 0.7, f"Read: {value}"


_NEGATION = re.compile(
    r"\b(?:not|never|no|nobody|none|neither|cannot|without)\b|n['’]t\b", re.IGNORECASE
)
