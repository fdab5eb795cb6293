"""Tell the sides of a change apart: in `moves from X to Y`, X is the former and Y the new value."""

import re

from holdfast.roles.extractive.extraction.proposed_values import without_unasked_proposals
from holdfast.roles.extractive.text.noun_kinds import ValueKind
from holdfast.roles.extractive.text.value_candidates import ValueCandidate, find_candidates

_MOVES = (
    r"mov(?:e[sd]?|ing)|shift(?:s|ed)?|postponed|rescheduled|deferred|delayed|"
    r"(?:put|brought) (?:back|forward|off)|extended|chang(?:e[sd]?|ing)"
)
_AMOUNTS = (
    r"r(?:ise[sn]?|ose)|f[ae]ll(?:s|en)?|gr[eo]ws?|grown|drop(?:s|ped)?|"
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
_LONGEST_BEFORE = 80
"""More characters than a verb and its `from` have: a sentence may have thousands of values."""
_KINDS = {ValueKind.YEAR: ValueKind.DATE, ValueKind.PLACE: ValueKind.NAME}
_TO = re.compile(r"[^.;:,]{0,30}?,? \bto (?:the )?")
_LONGEST_TO = 40
"""More characters than `_TO` can take."""
_OF_TIME = (ValueKind.DATE, ValueKind.YEAR)
_CHANGE = rf"{_MOVES}|{_AMOUNTS}|{_PLACES}|increase|decrease|relocation|extension|postponement"
_ASKS_FORMER = re.compile(
    r"\bfrom (?:what|which|where|whom)\b|\b(?:from|first)\W*$|\b(?:previous(?:ly)?|former(?:ly)?|"
    r"(?<!how )old|original(?:ly)?|initial(?:ly)?|earlier|used to|at first|"
    r"(?:in|at) the (?:beginning|start)|g[ai]ven? up|who transferred)\b|"
    rf"\b(?:before|until)(?:\W*$|(?: \w+){{0,4}}? (?:{_CHANGE})\b)",
    re.IGNORECASE,
)
_ASKS_PLACE_LEFT = re.compile(r"\b(?:leaves?|(?<!is )(?<!are )left|vacate[sd]?)\b", re.IGNORECASE)
"""Of names alone: `how much is left` asks for the value after a change."""
_ASKS_NEW = re.compile(
    r"\bto (?:what|which|where|whom)\b|\bto\W*$|\b(?:new|now|current(?:ly)?|today)\b", re.IGNORECASE
)
_ASKS_PRESENT = re.compile(
    r"\b(?:is|are|has|does|do|owns|leads|runs|holds|(?:move|relocate)\W*$)", re.IGNORECASE
)
_ASKS_EITHER = re.compile(
    r"\b(?:beg[aiu]ns?|beginning|start(?:s|ed|ing)?|first|last|lowest|highest|least|most|smallest|"
    r"largest|minimum|maximum|range|before|until|change[sd]?)\b",
    re.IGNORECASE,
)
"""Words that may mean either side: `when does it begin` of a time that was extended."""
_MONTH = (
    r"january|february|march|april|june|july|august|september|october|november|december|"
    r"(?:(?<=in )|(?<=of )|(?<=on )|(?<=by )|(?<=since )|(?<=\d ))may"
)
_YEARS = re.compile(r"\b(?:1[0-9]|20)\d\d\b(?!,\d)")
_MONTHS = re.compile(rf"\b(?:{_MONTH})\b", re.IGNORECASE)


def asked_candidates(sentence: str, question: str) -> list[ValueCandidate]:
    """Return the sentence's candidates without the side of a change that is not asked for.

    Both sides stay where the question does not make plain which one it means. A change that is
    only proposed gives its amount where the proposal is asked for, and nowhere else.
    """
    every = without_unasked_proposals(find_candidates(sentence), sentence, question)
    unasked = [
        each
        for former in every
        if _is_former(sentence, former)
        for new in every
        if _follows(sentence, former, new)
        for each in _unasked(sentence, question, former, new)
    ]
    return [each for each in every if each not in unasked]


def value_after_change(sentence: str, question: str, value: str) -> str:
    """Return what the sentence says `value` changed to; empty if it does not, or is not asked."""
    every = find_candidates(sentence)
    formers = [each for each in every if each.value == value and _is_former(sentence, each)]
    pairs = ((former, new) for former in formers for new in every)
    return next(
        (
            new.value
            for former, new in pairs
            if _follows(sentence, former, new)
            and _unasked(sentence, question, former, new) == [former]
        ),
        "",
    )


def _unasked(
    sentence: str, question: str, former: ValueCandidate, new: ValueCandidate
) -> list[ValueCandidate]:
    """The side that is not asked for; empty if it may be either."""
    between = sentence[former.end : new.start]
    is_of_time = former.kind in _OF_TIME
    rest = sentence if is_of_time else f"{sentence[: former.start]} {sentence[new.end :]}"
    for dates in (_YEARS, _MONTHS):
        asked = _said(dates, question)
        if not asked:
            continue
        if asked <= _said(dates, between):
            return [new]
        if len(asked) > 1 or asked != _said(dates, rest):
            return []
    is_name = _KINDS.get(former.kind, former.kind) is ValueKind.NAME
    if _ASKS_FORMER.search(question) or (is_name and _ASKS_PLACE_LEFT.search(question)):
        return [new]
    if _ASKS_NEW.search(question):
        return [former]
    if _ASKS_EITHER.search(question) or (is_name and not _ASKS_PRESENT.search(question)):
        return []
    return [former]


def _said(dates: re.Pattern[str], text: str) -> frozenset[str]:
    return frozenset(each.group().casefold() for each in dates.finditer(text))


def _is_former(sentence: str, value: ValueCandidate) -> bool:
    pattern = _BEFORE_FORMER.get(_KINDS.get(value.kind, value.kind))
    before = sentence[max(0, value.start - _LONGEST_BEFORE) : value.start]
    return pattern is not None and pattern.search(before) is not None


def _follows(sentence: str, former: ValueCandidate, value: ValueCandidate) -> bool:
    """True if nothing but `to`, and the unit of the former value, stands between the two."""
    if former.kind is not value.kind or value.start - former.end > _LONGEST_TO:
        return False
    between = sentence[former.end : value.start]
    to = _TO.match(between)
    return to is not None and to.end() == len(between)
