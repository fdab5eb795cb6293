"""When verifying stops: five conditions of VMAO over the rounds so far, each with what it saw."""

from collections.abc import Sequence
from fractions import Fraction

from models.strategy import Strategy
from models.verification import (
    Completeness,
    ConditionSeen,
    StopCheck,
    StopCondition,
    Verification,
)


def check(
    strategy: Strategy,
    rounds: Sequence[StopCheck],
    verdicts: Sequence[Verification],
    *,
    iteration: int,
    tokens: int,
) -> StopCheck:
    """The line of the stop ledger for this round; `rounds` are those before it, oldest first.

    What counts as complete is the status, not the score; sub-questions that were added count in
    the share. A condition fires at its threshold, not only beyond it.
    """
    complete = sum(each.status is Completeness.COMPLETE for each in verdicts)
    total = len(verdicts)
    confidence = _mean([each.confidence for each in verdicts])
    seen = (
        _ready(strategy, complete, total),
        _confident(strategy, complete, total, confidence),
        _diminishing(strategy, rounds, complete, total),
        _tokens(strategy, tokens),
        _iterations(strategy, iteration),
    )
    fired = next((each.condition for each in seen if each.fired), None)
    if not verdicts:
        fired = fired or StopCondition.NOTHING_LEFT
    return StopCheck(
        iteration=iteration,
        complete=complete,
        total=total,
        confidence=confidence,
        tokens=tokens,
        conditions=seen,
        fired=fired,
    )


def _ready(strategy: Strategy, complete: int, total: int) -> ConditionSeen:
    wanted = strategy.ready_threshold
    return ConditionSeen(
        condition=StopCondition.READY,
        seen=f"{complete} of {total} complete ({_share(complete, total):.1%}), wanted {wanted:.1%}",
        fired=total > 0 and _exact(complete, total) >= _written(wanted),
    )


def _confident(strategy: Strategy, complete: int, total: int, mean: float) -> ConditionSeen:
    sure, share = strategy.high_confidence, strategy.high_confidence_share
    return ConditionSeen(
        condition=StopCondition.CONFIDENT,
        seen=f"mean confidence {mean:.2f}, wanted {sure:.2f}, with "
        f"{_share(complete, total):.1%} complete, wanted {share:.1%}",
        fired=total > 0 and mean >= sure and _exact(complete, total) >= _written(share),
    )


def _diminishing(
    strategy: Strategy, rounds: Sequence[StopCheck], complete: int, total: int
) -> ConditionSeen:
    least = strategy.diminishing_returns
    if not rounds:
        seen, fired = "the first round has none before it", False
    else:
        before = rounds[-1]
        more = _exact(complete, total) - _exact(before.complete, before.total)
        seen = (
            f"{_share(before.complete, before.total):.1%} complete before, now "
            f"{_share(complete, total):.1%}: {float(more):+.1%}, wanted {least:+.1%}"
        )
        fired = more < _written(least)
    return ConditionSeen(condition=StopCondition.DIMINISHING, seen=seen, fired=fired)


def _tokens(strategy: Strategy, tokens: int) -> ConditionSeen:
    return ConditionSeen(
        condition=StopCondition.TOKENS,
        seen=f"{tokens:,} tokens spent of {strategy.token_budget:,}",
        fired=tokens >= strategy.token_budget,
    )


def _iterations(strategy: Strategy, iteration: int) -> ConditionSeen:
    return ConditionSeen(
        condition=StopCondition.ITERATIONS,
        seen=f"round {iteration} of {strategy.max_iterations}",
        fired=iteration >= strategy.max_iterations,
    )


def _mean(values: Sequence[float]) -> float:
    # Rounded, so that a mean of 0.75 is one: 0.7 + 0.8 is a little more than 1.5 in floats.
    return round(sum(values) / len(values), 9) if values else 0.0


def _share(complete: int, total: int) -> float:
    return complete / total if total else 0.0


def _exact(complete: int, total: int) -> Fraction:
    return Fraction(complete, total) if total else Fraction(0)


def _written(setting: float) -> Fraction:
    """The setting as it was written: 0.05 is a twentieth, and no float beside it."""
    return Fraction(str(setting))
