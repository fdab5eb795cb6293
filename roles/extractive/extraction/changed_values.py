"""Tell the sides of a change apart: in `moves from X to Y`, X is the former and Y the new value."""

import re

from holdfast.roles.extractive.text.noun_kinds import ValueKind
from holdfast.roles.extractive.text.value_candidates import ValueCandidate, find_candidates

_MOVES = (
    r"mov(?:e[sd]?|ing)|shift(?:s|ed)?|postponed|rescheduled|deferred|delayed|"
    r"(?:put|brought) (?:back|forward|off)|extended|chang(?:e[sd]?|ing)"
)
_AMOUNTS = (
    r"r(?:ise[sn]?|ose)|f[ae]ll(?:s|en)?|gr[eo]ws?|grown|go(?:es|ne)?|went|drop(?:s|ped)?|"
    r"(?:in|de)creas(?:e[sd]?|ing)|reduced|raised|lowered|cut|climb(?:s|ed)?|doubled"
)
_PLACES = r"relocat(?:e[sd]?|ing)|transfer(?:s|red)?"
_BEFORE_FORMER = {
    kind: re.compile(rf"\b(?:{verbs})\b[^.;:]{{0,40}}?\bfrom (?:the )?$", re.IGNORECASE)
    for kind, verbs in (
        (ValueKind.DATE, _MOVES),
        (ValueKind.NUMBER, f"{_MOVES}|{_AMOUNTS}"),
        (ValueKind.NAME, f"{_MOVES}|{_PLACES}"),
    )
}
"""Of dates `rose from March to May` says when it rose, so a date needs a verb of its own."""
_KINDS = {ValueKind.YEAR: ValueKind.DATE, ValueKind.PLACE: ValueKind.NAME}
_TO = re.compile(r"^[^.;:,]{0,30}?,? \bto (?:the )?")
_ASKS_FORMER = re.compile(
    r"\bfrom (?:what|which|where|whom)\b|\bfrom\W*$|\b(?:before|until|previous(?:ly)?|"
    r"former(?:ly)?|old|original(?:ly)?|initial(?:ly)?|earlier|used to)\b",
    re.IGNORECASE,
)


def asked_candidates(sentence: str, question: str) -> list[ValueCandidate]:
    """Return the sentence's candidates without the side of a change that is not asked for.

    Whoever does not ask for the value before the change is answered with the value after it.
    """
    every = find_candidates(sentence)
    formers = [each for each in every if _is_former(sentence, each)]
    news = [each for each in every if any(_follows(sentence, former, each) for former in formers)]
    if not news:
        return every
    unasked = news if _ASKS_FORMER.search(question) else formers
    return [each for each in every if each not in unasked]


def _is_former(sentence: str, value: ValueCandidate) -> bool:
    before = _BEFORE_FORMER.get(_KINDS.get(value.kind, value.kind))
    return before is not None and before.search(sentence[: value.start]) is not None


def _follows(sentence: str, former: ValueCandidate, value: ValueCandidate) -> bool:
    """True if nothing but `to`, and the unit of the former value, stands between the two."""
    if former.kind is not value.kind:
        return False
    between = sentence[former.end : value.start]
    to = _TO.match(between)
    return to is not None and to.end() == len(between)
