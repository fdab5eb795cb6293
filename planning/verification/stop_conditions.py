"""Decide when verification stops: five conditions of VMAO over the rounds so far."""

from collections.abc import Mapping, Sequence
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
    before: Mapping[str, Verification],
    verdicts: Sequence[Verification],
    *,
    round_: int,
    tokens: int,
) -> StopLogEntry:
    """Return the stop log entry of this round; `before` has the verdicts of the last one, by task.

    A result counts as complete by its status, not by its score; added tasks count in the share.
    The confidence of a round is the mean reliability of its results, so that a verifier who is sure
    that a result is bad does not raise it. A round's improvement is that of the sub-questions that
    the last round had. A condition fires at its threshold, not only beyond it.
    """
    complete = sum(each.status is Completeness.COMPLETE for each in verdicts)
    total = len(verdicts)
    confidence = _mean([each.reliability for each in verdicts])
    seen = (
        _check_ready(strategy, complete, total),
        _check_confident(strategy, complete, total, confidence),
        _check_diminishing(strategy, before, verdicts),
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
    strategy: Strategy, before: Mapping[str, Verification], verdicts: Sequence[Verification]
) -> ConditionOutcome:
    least = strategy.diminishing_returns
    again = [each for each in verdicts if each.task_id in before]
    if not again:
        seen, fired = "no sub-question was verified before", False
    else:
        earlier = _mean([before[each.task_id].completeness for each in again])
        now = _mean([each.completeness for each in again])
        more = round(now - earlier, 9)
        seen = (
            f"mean completeness of {len(again)} sub-questions {earlier:.1%} before, now {now:.1%}: "
            f"{more:+.1%}, wanted {least:+.1%}"
        )
        fired = more < least
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
