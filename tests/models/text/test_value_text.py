"""Tests for values rendered as text."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.models.text.value_text import value_as_text


@given(st.text())
def test_a_text_stays_as_it_is(text: str) -> None:
    assert value_as_text(text) == text


@pytest.mark.parametrize("value", [None, True, 3, 1.5, [], ["é", 1], {"é": None}], ids=repr)
def test_other_values_are_readable_json(value: object) -> None:
    text = value_as_text(value)

    assert json.loads(text) == value
    assert "\\u" not in text
