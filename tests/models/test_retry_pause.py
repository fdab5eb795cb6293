"""Tests for the pause before a retry."""

from hypothesis import given
from hypothesis import strategies as st

from holdfast.models.calls.retry_pause import retry_pause


@given(st.floats(0.1, 5), st.floats(5, 100), st.integers(1, 10_000))
def test_the_pause_doubles_with_each_attempt_up_to_the_longest(
    first_s: float, longest_s: float, attempt: int
) -> None:
    expected_s = min(first_s * 2.0 ** min(attempt - 1, 16), longest_s)

    pause_s = retry_pause(first_s, longest_s, attempt).total_seconds()

    assert expected_s * 0.799 <= pause_s <= expected_s * 1.001
