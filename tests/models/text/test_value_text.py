"""Tests for values rendered as text."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.models.text.value_text import stored_text_in_words, value_as_text, value_in_words


@given(st.text())
def test_a_text_stays_as_it_is(text: str) -> None:
    assert value_as_text(text) == text


@pytest.mark.parametrize("value", [None, True, 3, 1.5, [], ["é", 1], {"é": None}], ids=repr)
def test_other_values_are_readable_json(value: object) -> None:
    text = value_as_text(value)

    assert json.loads(text) == value
    assert "\\u" not in text


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (["Brannick line", "Ellerhow line"], "Brannick line; Ellerhow line"),
        ([1, 2.5], "1; 2.5"),
        ([], "[]"),
        ([{"a": 1}], '[{"a": 1}]'),
        ("[sic] a text", "[sic] a text"),
        ({"a": 1}, '{"a": 1}'),
    ],
    ids=repr,
)
def test_a_list_is_read_as_its_elements_also_from_its_stored_text(
    value: object, words: str
) -> None:
    assert value_in_words(value) == words
    assert stored_text_in_words(value_as_text(value)) == words
