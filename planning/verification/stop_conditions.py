"""Decide when verification stops: five conditions of VMAO over the rounds so far."""

from collections.abc import Sequence
from fractions import Fraction

from holdfast.models.strategies.job_strategy import Strategy
from holdfast.models.verification.verification_verdicts import (
    Completeness,
    ConditionOutcome,
    StopCondition,
    StopLogEntry,
    Verification,
)


def check_stop_conditions(
    strategy: Strategy,
    rounds: Sequence[StopLogEntry],
    verdicts: Sequence[Verification],
    *,
    round_: int,
    tokens: int,
) -> StopLogEntry:
    """Return the stop log entry of this round; `rounds` are the earlier ones, oldest first.

    A result counts as complete by its status, not by its score; added tasks count in the share.
    A condition fires at its threshold, not only beyond it.
    """
    complete = sum(each.status is Completeness.COMPLETE for each in verdicts)
    total = len(verdicts)
    confidence = _mean([each.confidence for each in verdicts])
    seen = (
        _check_ready(strategy, complete, total),
        _check_confident(strategy, complete, total, confidence),
        _check_diminishing(strategy, rounds, complete, total),
        _check_tokens(strategy, tokens),
        _check_rounds(strategy, round_),
    )
    fired = next((each.condition for each in seen if each.fired), None)
    if not verdicts:
        fired = fired or StopCondition.NOTHING_LEFT
    return StopLogEntry(
        round=round_,
        complete=complete,
        total=total,
        confidence=confidence,
        tokens=tokens,
        conditions=seen,
        fired=fired,
    )


def _check_ready(strategy: Strategy, complete: int, total: int) -> ConditionOutcome:
    wanted = strategy.ready_threshold
    return ConditionOutcome(
        condition=StopCondition.READY,
        seen=f"{complete} of {total} complete ({_share(complete, total):.1%}), wanted {wanted:.1%}",
        fired=total > 0 and _exact_share(complete, total) >= _exact_setting(wanted),
    )


def _check_confident(
    strategy: Strategy, complete: int, total: int, mean: float
) -> ConditionOutcome:
    sure, share = strategy.high_confidence, strategy.high_confidence_share
    return ConditionOutcome(
        condition=StopCondition.CONFIDENT,
        seen=f"mean confidence {mean:.2f}, wanted {sure:.2f}, with "
        f"{_share(complete, total):.1%} complete, wanted {share:.1%}",
        fired=total > 0 and mean >= sure and _exact_share(complete, total) >= _exact_setting(share),
    )


def _check_diminishing(
    strategy: Strategy, rounds: Sequence[StopLogEntry], complete: int, total: int
) -> ConditionOutcome:
    least = strategy.diminishing_returns
    if not rounds:
        seen, fired = "the first round has none before it", False
    else:
        before = rounds[-1]
        more = _exact_share(complete, total) - _exact_share(before.complete, before.total)
        seen = (
            f"{_share(before.complete, before.total):.1%} complete before, now "
            f"{_share(complete, total):.1%}: {float(more):+.1%}, wanted {least:+.1%}"
        )
        fired = more < _exact_setting(least)
    return ConditionOutcome(condition=StopCondition.DIMINISHING, seen=seen, fired=fired)


def _check_tokens(strategy: Strategy, tokens: int) -> ConditionOutcome:
    return ConditionOutcome(
        condition=StopCondition.TOKENS,
        seen=f"{tokens:,} tokens spent of {strategy.token_budget:,}",
        fired=tokens >= strategy.token_budget,
    )


def _check_rounds(strategy: Strategy, round_: int) -> ConditionOutcome:
    return ConditionOutcome(
        condition=StopCondition.MAX_ROUNDS,
        seen=f"round {round_} of {strategy.max_rounds}",
        fired=round_ >= strategy.max_rounds,
    )


def _mean(values: Sequence[float]) -> float:
    # Rounded: 0.7 + 0.8 is a little more than 1.5 in floats, and a mean of 0.75 must count.
    return round(sum(values) / len(values), 9) if values else 0.0


def _share(complete: int, total: int) -> float:
    return complete / total if total else 0.0


def _exact_share(complete: int, total: int) -> Fraction:
    return Fraction(complete, total) if total else Fraction(0)


def _exact_setting(setting: float) -> Fraction:
    """Return the setting as an exact decimal: 0.05 is one twentieth, not the nearest float."""
    return Fraction(str(setting))
