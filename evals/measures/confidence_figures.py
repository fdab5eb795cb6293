"""Measure how reliable stated confidences are: reliability table, AUROC and Brier score.

AUROC is the chance that a right answer is stated with more confidence than a wrong one (0.5: the
confidence says nothing). Brier is the mean squared distance from the outcome (0: perfect).
Sources: Hanley and McNeil, The meaning and use of the area under a ROC curve (1982); Brier,
Verification of forecasts expressed in terms of probability (1950).
"""

import math
import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from holdfast.evals.measures.answer_metrics import RESAMPLES, SEED, Interval, best_f1
from holdfast.models.evidence.answer_routes import AnswerRoute
from holdfast.models.frozen_model import Frozen

SURE = 0.7
"""An answer that is stated with at least this confidence counts as sure."""
RIGHT_F1 = 0.5
"""An answer counts as right from this F1 on: `Queen Elizabeth II` for `Elizabeth II`."""
_BINS = 10


class RatedAnswer(NamedTuple):
    """An answer with the confidence that its report states, its route, and whether it is right."""

    confidence: float
    is_right: bool
    route: AnswerRoute | None = None


class ReliabilityBin(Frozen):
    """The answers whose confidence lies between two tenths."""

    low: float
    answers: int
    mean_confidence: float
    right: float
    """The share of right answers."""


class ConfidenceFigures(Frozen):
    """How reliable the confidences of these answers are."""

    answers: int
    mean_confidence: float
    right: float
    """The share of right answers; equal to the mean confidence if it is calibrated."""
    auroc: Interval | None
    """With a bootstrap interval; None where all answers are right, or all are wrong."""
    brier: float
    sure: int
    sure_and_wrong: int
    """Of the answers stated with at least `SURE`."""
    bins: tuple[ReliabilityBin, ...]


def is_right_answer(said: str, answers: Iterable[str]) -> bool:
    """True if the answer says what one of the right answers says."""
    return best_f1(said, answers) >= RIGHT_F1


def confidence_figures(rated: Sequence[RatedAnswer]) -> ConfidenceFigures | None:
    """Return the figures; None if no answer states a confidence."""
    if not rated:
        return None
    sure = [each for each in rated if each.confidence >= SURE]
    return ConfidenceFigures(
        answers=len(rated),
        mean_confidence=_mean([each.confidence for each in rated]),
        right=_mean([each.is_right for each in rated]),
        auroc=_auroc_interval(rated),
        brier=_mean([(each.confidence - each.is_right) ** 2 for each in rated]),
        sure=len(sure),
        sure_and_wrong=sum(not each.is_right for each in sure),
        bins=tuple(_bins(rated)),
    )


def auroc(rated: Iterable[RatedAnswer]) -> float:
    """Return the area under the ROC curve; not a number without both right and wrong answers."""
    by_confidence: dict[float, Counter[bool]] = defaultdict(Counter)
    for each in rated:
        by_confidence[each.confidence][each.is_right] += 1
    right, wrong = (sum(each[kind] for each in by_confidence.values()) for kind in (True, False))
    won, wrong_below = 0.0, 0
    for _, counts in sorted(by_confidence.items()):
        won += counts[True] * (wrong_below + counts[False] / 2)
        wrong_below += counts[False]
    return won / (right * wrong) if right and wrong else math.nan


def _auroc_interval(rated: Sequence[RatedAnswer]) -> Interval | None:
    draw = random.Random(SEED)
    drawn = (auroc(draw.choices(rated, k=len(rated))) for _ in range(RESAMPLES))
    areas = sorted(each for each in drawn if not math.isnan(each))
    if not areas:
        return None
    low, high = (areas[round(share * (len(areas) - 1))] for share in (0.025, 0.975))
    return Interval(auroc(rated), low, high)


def _bins(rated: Iterable[RatedAnswer]) -> Iterator[ReliabilityBin]:
    groups: dict[int, list[RatedAnswer]] = defaultdict(list)
    for each in rated:
        groups[min(int(each.confidence * _BINS + 1e-9), _BINS - 1)].append(each)
    for at, group in sorted(groups.items()):
        stated = _mean([each.confidence for each in group])
        right = _mean([each.is_right for each in group])
        yield ReliabilityBin(
            low=at / _BINS, answers=len(group), mean_confidence=stated, right=right
        )


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def confidence_lines(found: ConfidenceFigures | None) -> Iterator[str]:
    """The figures for a terminal: one line of sums, then the reliability table."""
    if found is None:
        yield "confidence: no answer states one"
        return
    yield (
        f"confidence: {found.answers} answers, {100 * found.right:.1f}% right, "
        f"stated {found.mean_confidence:.2f} on average; AUROC {_area(found.auroc)}, "
        f"Brier {found.brier:.3f}; wrong at {SURE:g} or more: "
        f"{found.sure_and_wrong} of {found.sure}"
    )
    yield f"  {'stated':>10}{'answers':>9}{'mean':>7}{'right':>8}"
    for each in found.bins:
        span = f"{each.low:.1f} to {each.low + 1 / _BINS:.1f}"
        yield (
            f"  {span:>10}{each.answers:>9}{each.mean_confidence:>7.2f}{100 * each.right:>7.1f}%"
        )


def _area(found: Interval | None) -> str:
    if found is None:
        return "unknown (all are right, or all are wrong)"
    return f"{found.mean:.2f} ({found.low:.2f} to {found.high:.2f})"
