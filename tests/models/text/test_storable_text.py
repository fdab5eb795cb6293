"""Tests for the replacement of characters that PostgreSQL refuses."""

import json
import math

from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import JsonValue

from holdfast.models.text.storable_text import storable_json, storable_text, storable_value

any_text = st.text(st.characters(codec=None, categories=None) | st.sampled_from("\x00\ud83d\ude00"))
any_number = st.integers() | st.floats(-1e9, 1e9) | st.sampled_from([math.nan, math.inf, -math.inf])
any_value: st.SearchStrategy[JsonValue] = st.recursive(
    st.none() | st.booleans() | any_number | any_text,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(any_text, inner, max_size=4),
    max_leaves=12,
)


@given(any_text)
@example("\ud83d\ude00")
@example("a\x00\ud800é")
def test_a_replacement_keeps_the_length_and_every_other_character(text: str) -> None:
    stored = storable_text(text)

    assert len(stored) == len(text)
    for before, after in zip(text, stored, strict=True):
        is_refused = before == "\x00" or "\ud800" <= before <= "\udfff"
        assert after == ("\ufffd" if is_refused else before)


@given(any_text)
def test_a_storable_text_stays_as_it_is(text: str) -> None:
    stored = storable_text(text)

    assert storable_text(stored) is stored


@given(any_text, st.integers(0, 20), st.integers(0, 20))
def test_the_offsets_of_a_quote_hold_after_the_replacement(text: str, start: int, end: int) -> None:
    assert storable_text(text)[start:end] == storable_text(text[start:end])


@given(any_value)
def test_a_storable_value_is_json_without_what_postgresql_refuses(value: JsonValue) -> None:
    written = storable_json(value)

    written.encode()
    assert "\\u0000" not in written.replace("\\\\", "")
    assert json.loads(written, parse_constant=str) == storable_value(value)


def test_names_texts_and_numbers_of_a_value_are_replaced() -> None:
    value: JsonValue = {"a\x00": ["\ud800x", float("nan"), float("-inf"), 1.5, True, None]}

    assert storable_value(value) == {"a\ufffd": ["\ufffdx", None, None, 1.5, True, None]}
