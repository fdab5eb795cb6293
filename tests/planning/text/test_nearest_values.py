"""Tests for vocabularies: which values are equal, and which values are nearest to a text."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.planning.text.nearest_values import NEAREST_COUNT, Vocabulary, nearest_names

RELATIONS = ("place of birth", "country of citizenship", "capital of", "Capital", "spouse")


@pytest.mark.parametrize(
    ("asked", "same"),
    [
        ("capital of", "capital of"),
        ("  Capital   OF ", "capital of"),
        ("capital\u00a0of", "capital of"),
        ("capital-of", None),
        ("capitals of", None),
        ("", None),
    ],
)
def test_case_and_spaces_alone_make_no_other_value(asked: str, same: str | None) -> None:
    assert Vocabulary(RELATIONS).same(asked) == same


def test_what_two_values_share_by_case_alone_is_neither() -> None:
    units = Vocabulary(["mW", "MW", "kW"])

    assert units.same("mw") is None
    assert units.same("MW") == "MW"
    assert units.same("KW") == "kW"


def test_nearest_are_by_spelling_whatever_the_order_of_words() -> None:
    many = Vocabulary([*RELATIONS, *(f"topic number {n}" for n in range(50))])

    assert many.nearest("birth place", 1) == ("place of birth",)
    assert many.nearest("country of citzenship", 1) == ("country of citizenship",)
    assert many.nearest("spouses", 1) == ("spouse",)
    assert len(many.nearest("topic number 7")) == NEAREST_COUNT
    assert many.nearest("qqq xxx") == ()


def test_of_ten_values_or_fewer_all_are_near() -> None:
    assert set(Vocabulary(RELATIONS).nearest("zzz")) == set(RELATIONS)


@given(st.lists(st.text(max_size=20), min_size=1, max_size=40), st.data())
@pytest.mark.slow
def test_a_value_is_nearest_to_itself_and_all_that_is_near_is_a_value(
    values: list[str], data: st.DataObject
) -> None:
    known = Vocabulary(values)
    asked = data.draw(st.sampled_from(values) | st.text(max_size=300))

    near = known.nearest(asked)

    assert set(near) <= set(values)
    assert len(near) == len(set(near)) <= NEAREST_COUNT
    if asked in values:
        assert known.same(asked) == asked


@pytest.mark.slow
def test_a_misspelled_value_is_found_among_a_hundred_thousand() -> None:
    vocabulary = Vocabulary(f"entity of type {n:06d}" for n in range(100_000))
    vocabulary.prepare()

    assert "entity of type 001234" in vocabulary.nearest("entity of typ 01234")


@given(st.lists(st.text(min_size=1, max_size=12), max_size=12, unique=True), st.text(max_size=12))
def test_the_nearest_names_are_names_and_a_name_is_nearest_to_itself(
    names: list[str], name: str
) -> None:
    near = nearest_names(name, names, 3, 0.5)

    assert set(near) <= set(names)
    assert len(near) <= 3
    assert (near[:1] == [name]) == (name in names)


def test_a_name_with_a_slip_is_near_and_another_word_is_not() -> None:
    assert nearest_names("max_parralel", ["max_parallel", "model"], 1) == ["max_parallel"]
    assert nearest_names("zzz", ["max_parallel", "model"]) == []


def test_no_more_than_the_first_two_hundred_characters_are_compared() -> None:
    """A hostile value of a megabyte must not occupy the event loop."""
    start = "a" * 200
    ends = [start + "b" * 1000, start + "c" * 1000]

    assert nearest_names(start + "c" * 1000, ends, limit=1) == ends[:1]
    many = Vocabulary([*ends, *(f"topic {n}" for n in range(50))])
    assert many.nearest(start + "c" * 1000, 1) == (ends[0],)


def test_values_that_differ_in_case_alone_are_each_kept() -> None:
    words = ["".join(word) for word in product(*zip("lamplight", "LAMPLIGHT", strict=True))]

    units = Vocabulary(words)

    assert units.same("LampLight") == "LampLight"
    assert units.same(" lamplight") is None
