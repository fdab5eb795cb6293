"""Tests for the five stop conditions, each at its threshold, and for the figure that VMAO shows."""

import pytest

from holdfast.models.strategies.job_strategy import Strategy
from holdfast.models.verification.verification_verdicts import (
    Completeness,
    StopCondition,
    StopLogEntry,
    Verification,
)
from holdfast.planning.verification import stop_conditions

READY, CONFIDENT, DIMINISHING, TOKENS, MAX_ROUNDS = list(StopCondition)[:5]
FIRST = (0.90, 0.45, 0.85, 0.30, 0.25)
SECOND = (0.90, 0.45, 0.85, 0.75, 0.80, 0.80, 0.85)


def verdicts(*scores: float, confidence: float = 0.5) -> list[Verification]:
    """As in VMAO's figure: 0.75 is complete and 0.45 is not."""
    return [
        Verification(
            task_id=f"T{n}",
            status=Completeness.COMPLETE if score >= 0.75 else Completeness.INCOMPLETE,
            completeness=score,
            confidence=confidence,
        )
        for n, score in enumerate(scores, start=1)
    ]


def of(complete: int, total: int, *, confidence: float = 0.5) -> list[Verification]:
    scores = [0.9] * complete + [0.3] * (total - complete)
    return verdicts(*scores, confidence=confidence)


def check(
    found: list[Verification],
    before: list[Verification] | None = None,
    *,
    round_: int = 0,
    tokens: int = 0,
    **settings: object,
) -> StopLogEntry:
    strategy = Strategy.model_validate(settings)
    earlier = {each.task_id: each for each in before or ()}
    number = round_ or (2 if before else 1)
    return stop_conditions.check_stop_conditions(
        strategy, earlier, found, round_=number, tokens=tokens
    )


def fired(line: StopLogEntry) -> set[StopCondition]:
    return {each.condition for each in line.conditions if each.fired}


@pytest.mark.conformance("VMAO-09")
def test_the_figure_of_vmao_goes_on_at_two_of_five_and_stops_at_six_of_seven() -> None:
    first = check(verdicts(*FIRST))
    second = check(verdicts(*SECOND), verdicts(*FIRST))

    assert (first.complete, first.total, first.fired) == (2, 5, None)
    assert first.conditions[0].seen == "2 of 5 complete (40.0%), wanted 80.0%"
    assert (second.complete, second.total, second.fired) == (6, 7, READY)
    assert second.conditions[0].seen == "6 of 7 complete (85.7%), wanted 80.0%"


@pytest.mark.conformance("VMAO-09")
@pytest.mark.parametrize(
    ("complete", "total", "ready"), [(3, 4, False), (4, 5, True), (7, 9, False), (8, 10, True)]
)
def test_ready_at_four_fifths_and_not_below(complete: int, total: int, ready: bool) -> None:
    assert (READY in fired(check(of(complete, total)))) is ready


@pytest.mark.conformance("VMAO-09")
@pytest.mark.parametrize(
    ("confidence", "complete", "total", "stops"),
    [(0.75, 2, 2, True), (0.749, 2, 2, False), (0.9, 3, 4, True), (0.9, 1, 2, False)],
)
def test_confident_needs_both_the_mean_reliability_and_half_of_them(
    confidence: float, complete: int, total: int, stops: bool
) -> None:
    line = check(of(complete, total, confidence=confidence))

    assert (CONFIDENT in fired(line)) is stops


@pytest.mark.conformance("VMAO-09")
def test_a_sure_verdict_that_half_is_missing_is_no_confidence() -> None:
    line = check(verdicts(0.95, 0.0, confidence=0.95))

    assert (line.fired, line.confidence) == (None, 0.475)


@pytest.mark.conformance("VMAO-09")
@pytest.mark.parametrize(
    ("before", "now", "stops"),
    [
        ((0.40, 0.50), (0.45, 0.55), False),  # exactly 5 % more: less than 0.05 in floats
        ((0.40, 0.50), (0.44, 0.54), True),
        ((0.3, 0.3), (0.3, 0.3), True),
        ((0.2, 0.32), (0.74, 0.74), False),  # better, though nothing is complete yet
        ((0.9, 0.9, 0.3, 0.3, 0.3), (0.9, 0.9, 0.9, 0.3, 0.3, 0.1, 0.1), False),  # two were added
        ((0.9, 0.3), (0.9, 0.3, 0.9, 0.9), True),  # what was added is no improvement
    ],
)
def test_returns_diminish_below_five_percent_more(
    before: tuple[float, ...], now: tuple[float, ...], stops: bool
) -> None:
    line = check(verdicts(*now), verdicts(*before))

    assert (DIMINISHING in fired(line)) is stops


def test_the_first_round_has_nothing_to_improve_on() -> None:
    assert DIMINISHING not in fired(check(of(0, 3)))


@pytest.mark.conformance("VMAO-09")
@pytest.mark.parametrize(("tokens", "stops"), [(999_999, False), (1_000_000, True)])
def test_the_token_budget_is_spent_at_its_last_token(tokens: int, stops: bool) -> None:
    line = check(of(1, 5), tokens=tokens)

    assert (TOKENS in fired(line)) is stops
    assert line.conditions[3].seen == f"{tokens:,} tokens spent of 1,000,000"


@pytest.mark.conformance("VMAO-09")
def test_the_third_round_is_the_last() -> None:
    found = [of(complete, 5) for complete in (1, 2, 3)]
    rounds = [
        check(now, before, round_=number)
        for number, (before, now) in enumerate(zip([[], *found], found, strict=False), start=1)
    ]

    assert [each.fired for each in rounds] == [None, None, MAX_ROUNDS]
    assert check(of(1, 5), max_rounds=1).fired is MAX_ROUNDS


@pytest.mark.conformance("VMAO-09")
@pytest.mark.parametrize(
    ("settings", "tokens", "first"),
    [
        ({"ready_threshold": 0.4}, 10, READY),
        ({"high_confidence": 0.38, "high_confidence_share": 0.4}, 10, CONFIDENT),
        ({"token_budget": 10, "max_rounds": 1}, 10, TOKENS),
        ({"max_rounds": 1}, 10, MAX_ROUNDS),
        ({}, 10, None),
    ],
)
def test_each_setting_moves_its_condition_and_the_first_that_fires_is_the_reason(
    settings: dict[str, object], tokens: int, first: StopCondition | None
) -> None:
    assert check(of(2, 5), tokens=tokens, **settings).fired is first


def test_every_condition_says_what_it_saw_whether_or_not_it_fired() -> None:
    line = check(of(5, 5, confidence=0.9), tokens=2_000_000)

    assert [each.condition for each in line.conditions] == list(StopCondition)[:5]
    assert all(each.seen for each in line.conditions)
    assert line.fired is READY
    assert fired(line) == {READY, CONFIDENT, TOKENS}


def test_without_results_nothing_is_left_to_do() -> None:
    line = check([])

    assert (line.total, line.confidence, line.fired) == (0, 0.0, StopCondition.NOTHING_LEFT)
    assert fired(line) == set()
