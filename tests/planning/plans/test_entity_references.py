"""Tests for references to results: resolved from memory with their types kept (KPI-05)."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.models.errors import Unresolved
from holdfast.planning.plans.entity_references import references_in, resolve_references

MEMORY = {
    "T1": {
        "name": "Ada",
        "year": 1843,
        "is_alive": False,
        "works": [{"title": "Notes", "pages": 66}, {"title": "Letters", "pages": 12}],
        "place": {"city": "London"},
        "tags": ["a", "b"],
        "empty": [],
        "nothing": None,
    }
}

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@pytest.mark.conformance("KPI-05")
@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("T1.name", "Ada"),
        ("$.T1.year", 1843),
        ("T1.is_alive", False),
        ("T1.place", {"city": "London"}),
        ("T1.place.city", "London"),
        ("T1.works[1].title", "Letters"),
        ("T1.works[*].pages", [66, 12]),
        ("T1.tags[*]", ["a", "b"]),
        ("T1.empty[*]", []),
        ("$['T1'].name", "Ada"),
    ],
)
def test_a_whole_value_keeps_its_type(path: str, value: object) -> None:
    assert resolve_references(f" <JSON_PATH>{path}</JSON_PATH> ", MEMORY) == value


@pytest.mark.conformance("KPI-05")
def test_text_around_a_reference_is_kept() -> None:
    text = "by <JSON_PATH>T1.name</JSON_PATH> in <JSON_PATH>T1.year</JSON_PATH>, for $1 million"

    assert resolve_references(text, MEMORY) == "by Ada in 1843, for $1 million"


@pytest.mark.conformance("KPI-05")
def test_lists_and_dicts_are_put_into_a_text_readably() -> None:
    text = "<JSON_PATH>T1.tags[*]</JSON_PATH>: <JSON_PATH>T1.place</JSON_PATH>"

    assert resolve_references(text, MEMORY) == 'a, b: {"city": "London"}'


def test_references_deep_inside_a_value_are_resolved() -> None:
    value = {"a": ["<JSON_PATH>T1.year</JSON_PATH>", {"b": "<JSON_PATH>T1.name</JSON_PATH>"}]}

    assert resolve_references(value, MEMORY) == {"a": [1843, {"b": "Ada"}]}


@pytest.mark.conformance("KPI-05")
@pytest.mark.parametrize(
    "path",
    ["T1.unknown", "T9.name", "T1.works[7].title", "T1.nothing", "T1.unknown[*]", "T1.name[*]"],
)
def test_what_is_not_there_is_named(path: str) -> None:
    with pytest.raises(Unresolved) as caught:
        resolve_references(f"see <JSON_PATH>{path}</JSON_PATH>", MEMORY)

    assert path in str(caught.value)


@pytest.mark.parametrize(
    "path",
    [
        "T1.works[",
        "$..x",
        "T1.works[?match(@.title,'(a+)+c')]",
        "",
        "[0]",
        "T1.a | T1.b",
        "[" * 500,
    ],
)
def test_a_malformed_or_dangerous_path_is_refused(path: str) -> None:
    with pytest.raises(Unresolved):
        list(references_in(f"<JSON_PATH>{path}</JSON_PATH>"))


def test_a_value_that_looks_like_a_reference_is_not_resolved_again() -> None:
    memory = {"T1": {"name": "<JSON_PATH>T2.secret</JSON_PATH>"}, "T2": {"secret": "x"}}

    assert (
        resolve_references("<JSON_PATH>T1.name</JSON_PATH>", memory)
        == "<JSON_PATH>T2.secret</JSON_PATH>"
    )


@pytest.mark.conformance("KPI-05")
@given(JSON)
@pytest.mark.slow
def test_any_value_comes_back_as_it_was_stored(value: object) -> None:
    if value is not None:
        assert resolve_references("<JSON_PATH>T1.v</JSON_PATH>", {"T1": {"v": value}}) == value


@given(st.text())
def test_any_text_is_resolved_or_refused(text: str) -> None:
    with suppress(Unresolved):
        resolve_references(f"<JSON_PATH>{text}</JSON_PATH>", MEMORY)
