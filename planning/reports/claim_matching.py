"""Match the claims of two reports: the same, other words, other support, another value, new, gone.

Rules come first, in this order: the same words; a quote that both cite; similar words. A claim is
never matched twice. A model may then pair claims that rules left over. What is only somewhat
similar and was shown to no model stays unmatched, and is named as unsettled, so that a reader can
decide.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from rapidfuzz import fuzz

from holdfast.models.evidence.evidence import Report, ReportStatement
from holdfast.models.frozen_model import Frozen
from holdfast.planning.reports.number_spellings import numbers_in
from holdfast.planning.text.folded_text import fold_text

Fit: TypeAlias = Callable[["_Claim", "_Claim"], float]
"""How well two claims fit; 0: not at all."""
_SIMILAR = 85.0
"""Percent of words in common, in any order, from which two claims are about the same."""
_UNSETTLED = 60.0
"""From here two claims may be about the same, and a reader has to decide."""
_MOST_CLAIMS = 400
"""Claims of a report that are compared; more would take seconds."""


class ClaimChange(StrEnum):
    """What became of a claim."""

    SAME = "same"
    REWORDED = "reworded"
    """Other words with the same numbers."""
    OTHER_SUPPORT = "other_support"
    """The same claim, which cites other quotes."""
    OTHER_VALUE = "other_value"
    """The same claim with another number."""
    NEW = "new"
    GONE = "gone"


class ClaimPair(Frozen):
    """A claim of the first report, of the second one, or of both."""

    change: ClaimChange
    first: str = ""
    second: str = ""
    first_quotes: tuple[str, ...] = ()
    second_quotes: tuple[str, ...] = ()
    unsettled: str = ""
    """A claim of the other report that may be about the same; empty: there is none."""
    matched_by: str = ""
    """`rules`, or the model that paired the claims; empty for a claim without a match."""


class ClaimMatch(Frozen):
    """A claim of the first report and one of the second that a model paired, by their texts."""

    first: str
    second: str
    has_same_value: bool


class ModelMatches(Frozen):
    """What a model made of the claims that rules left over."""

    model: str
    shown: frozenset[str]
    """The texts that the model saw; a claim among them without a match has none."""
    matches: tuple[ClaimMatch, ...]


@dataclass(frozen=True)
class _Claim:
    text: str
    folded: str
    quotes: frozenset[tuple[str, str]]
    """Address and folded quote of each citation."""

    @property
    def shown_quotes(self) -> tuple[str, ...]:
        return tuple(sorted(quote for _, quote in self.quotes))[:5]


def match_claims(
    first: Report, second: Report, by_model: ModelMatches | None = None
) -> tuple[ClaimPair, ...]:
    """Return the claims of both reports in pairs: those of the first in order, then new ones.

    A match of the model counts only between claims that rules have not matched.
    """
    left, right = list(_claims(first)), list(_claims(second))
    pairs: dict[int, int] = {}
    for fits in (_has_same_words, _shares_a_quote, _is_similar):
        free = [n for n in range(len(right)) if n not in pairs.values()]
        for at, claim in enumerate(left):
            if at not in pairs and (found := _best(claim, right, free, fits)) is not None:
                pairs[at] = found
                free.remove(found)
    judged = _places_of(by_model, left, right, pairs)
    pairs |= {at: place for at, (place, _) in judged.items()}
    taken = set(pairs.values())
    gone = [claim for at, claim in enumerate(left) if at not in pairs]
    added = [claim for at, claim in enumerate(right) if at not in taken]
    listed: list[ClaimPair] = []
    for at, claim in enumerate(left):
        if at in judged and by_model is not None:
            listed.append(_judged_pair(claim, right[pairs[at]], judged[at][1], by_model.model))
        elif at in pairs:
            listed.append(_pair(claim, right[pairs[at]]))
        else:
            listed.append(_alone(ClaimChange.GONE, claim, added, by_model))
    return (*listed, *(_alone(ClaimChange.NEW, claim, gone, by_model) for claim in added))


def _places_of(
    by_model: ModelMatches | None,
    left: Sequence[_Claim],
    right: Sequence[_Claim],
    pairs: Mapping[int, int],
) -> dict[int, tuple[int, ClaimMatch]]:
    """Return the places of the model's matches among the claims that rules left over, each once."""
    taken = set(pairs.values())
    firsts = {each.text: at for at, each in enumerate(left) if at not in pairs}
    seconds = {each.text: at for at, each in enumerate(right) if at not in taken}
    found = {}
    for match in by_model.matches if by_model else ():
        at, place = firsts.pop(match.first, None), seconds.pop(match.second, None)
        if at is not None and place is not None:
            found[at] = (place, match)
    return found


def _claims(report: Report) -> Iterable[_Claim]:
    by_mark = {each.mark: each for each in report.citations}
    seen: set[str] = set()
    sentences: Sequence[ReportStatement] = report.sentences
    for sentence in sentences[:_MOST_CLAIMS]:
        folded = fold_text(sentence.text).text
        if folded in seen:
            continue  # the summary says a finding again
        seen.add(folded)
        cited = [by_mark[mark] for mark in sentence.marks if mark in by_mark]
        quotes = frozenset((each.address, fold_text(each.quote).text) for each in cited)
        yield _Claim(sentence.text, folded, quotes)


def _has_same_words(one: _Claim, other: _Claim) -> float:
    return float(one.folded == other.folded)


def _shares_a_quote(one: _Claim, other: _Claim) -> float:
    """How similar two claims are that cite the same quote; 0 if they share none or are unlike."""
    if not one.quotes & other.quotes:
        return 0.0
    similarity = _similarity(one, other)
    return similarity if similarity >= _UNSETTLED else 0.0


def _is_similar(one: _Claim, other: _Claim) -> float:
    similarity = _similarity(one, other)
    return similarity if similarity >= _SIMILAR else 0.0


def _similarity(one: _Claim, other: _Claim) -> float:
    return float(fuzz.token_sort_ratio(one.folded, other.folded))


def _best(claim: _Claim, right: Sequence[_Claim], free: Sequence[int], fits: Fit) -> int | None:
    scored = [(fits(claim, right[n]), -n) for n in free]
    best, place = max(scored, default=(0.0, 0))
    return -place if best else None


def _pair(one: _Claim, other: _Claim) -> ClaimPair:
    return ClaimPair(
        change=_change(one, other),
        first=one.text,
        second=other.text,
        first_quotes=one.shown_quotes,
        second_quotes=other.shown_quotes,
        matched_by="rules",
    )


def _judged_pair(one: _Claim, other: _Claim, match: ClaimMatch, model: str) -> ClaimPair:
    """Return a model's pair; another number counts as another value, whatever the model says."""
    pair = _pair(one, other)
    change = pair.change if match.has_same_value else ClaimChange.OTHER_VALUE
    return pair.model_copy(update={"change": change, "matched_by": model})


def _change(one: _Claim, other: _Claim) -> ClaimChange:
    if numbers_in(one.text) != numbers_in(other.text):
        return ClaimChange.OTHER_VALUE
    if one.quotes != other.quotes:
        return ClaimChange.OTHER_SUPPORT
    return ClaimChange.SAME if one.folded == other.folded else ClaimChange.REWORDED


def _alone(
    change: ClaimChange,
    claim: _Claim,
    others: Sequence[_Claim],
    by_model: ModelMatches | None,
) -> ClaimPair:
    if by_model is not None and claim.text in by_model.shown:
        others = [each for each in others if each.text not in by_model.shown]
    nearest = max(((_similarity(claim, each), each.text) for each in others), default=(0.0, ""))
    unsettled = nearest[1] if nearest[0] >= _UNSETTLED else ""
    if change is ClaimChange.GONE:
        return ClaimPair(
            change=change, first=claim.text, first_quotes=claim.shown_quotes, unsettled=unsettled
        )
    return ClaimPair(
        change=change, second=claim.text, second_quotes=claim.shown_quotes, unsettled=unsettled
    )
