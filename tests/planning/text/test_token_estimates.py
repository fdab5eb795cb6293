"""Tests for the estimate of tokens: near the real counts, and monotonic."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.planning.text.token_estimates import estimate_tokens


@pytest.mark.parametrize(
    ("text", "o200k"),
    [  # counted with gpt-tokenizer's o200k_base rules by hand: words, digits by three, marks
        ("The cat sat on the mat.", 7),
        ("2026-11-20", 6),
        ("a" * 3, 1),
    ],
)
def test_short_texts_come_near_the_real_count(text: str, o200k: int) -> None:
    assert estimate_tokens(text) == pytest.approx(o200k, abs=1)


def test_nothing_has_no_tokens_and_anything_has_one() -> None:
    assert estimate_tokens("") == 0
    assert estimate_tokens(" ") == 1


@pytest.mark.parametrize(
    ("text", "quarter_of_characters"),
    [('{"id":"T1","priority":5,"tool":null}', 9), ("1.25,3.5,17.75,0.125,99.5", 6)],
)
def test_json_and_numbers_cost_more_than_a_quarter_of_their_characters(
    text: str, quarter_of_characters: int
) -> None:
    assert estimate_tokens(text) > 1.3 * quarter_of_characters


@pytest.mark.parametrize("text", ["研究计划的第一步", "Исследование", "بحث", "연구"])
def test_other_scripts_are_counted_by_the_character(text: str) -> None:
    assert 0.25 * len(text) < estimate_tokens(text) <= len(text)


@given(st.text(), st.text())
def test_a_longer_text_never_costs_less(one: str, two: str) -> None:
    assert estimate_tokens(f"{one} {two}") >= max(estimate_tokens(one), estimate_tokens(two)) - 1


@given(st.text(min_size=1))
def test_every_text_costs_something(text: str) -> None:
    assert estimate_tokens(text) >= 1
