"""Tests for the rules by which a loop must answer."""

import pytest

from holdfast.planning.loop.loop_limits import reason_to_answer


@pytest.mark.conformance("LOOP-04")
@pytest.mark.parametrize(
    ("news_by_turn", "must_answer"),
    [
        ([], False),
        ([0], False),
        ([3, 0], False),
        ([0, 1], False),
        ([4, 0, 0], True),
        ([0, 0], True),
    ],
)
def test_two_turns_without_a_new_passage_end_the_search(
    news_by_turn: list[int], must_answer: bool
) -> None:
    reason = reason_to_answer(len(news_by_turn), news_by_turn, 12, "")

    assert ("found nothing new" in reason) is must_answer


@pytest.mark.conformance("LOOP-04")
def test_the_last_turn_is_for_the_answer() -> None:
    assert reason_to_answer(10, [1] * 10, 12, "") == ""
    assert reason_to_answer(11, [1] * 11, 12, "") == "11 turns were taken (max_turns 12)"


@pytest.mark.conformance("LOOP-04")
def test_a_limit_of_the_job_comes_first() -> None:
    assert reason_to_answer(11, [0, 0], 12, "the tokens are spent") == "the tokens are spent"
