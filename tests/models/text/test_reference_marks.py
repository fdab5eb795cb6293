"""Tests for the marks around references: recognised, written, disarmed and restored."""

from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from holdfast.models.text.reference_marks import (
    disarm_references,
    has_reference,
    reference_to,
    referenced_paths,
    restore_references,
)

pieces = st.sampled_from(["<JSON_PATH>", "</JSON_PATH>", "< / JSON_PATH >", "T1.x", "‹", "<", " "])
marked_text = st.lists(pieces | st.text(max_size=5), max_size=8).map("".join)


@given(marked_text)
def test_a_disarmed_text_refers_to_nothing_and_has_the_same_length(text: str) -> None:
    shown = str(disarm_references(text))

    assert not has_reference(shown)
    assert referenced_paths(shown) == []
    assert len(shown) == len(text)


@given(marked_text.filter(lambda text: "‹" not in text))
def test_restoring_gives_the_text_before_it_was_disarmed(text: str) -> None:
    assert restore_references(str(disarm_references(text))) == text


@given(st.from_regex(r"\AT[1-9](\.[1-9])?\.[a-z_]{1,8}\Z"))
def test_a_written_mark_is_recognised_with_its_path(path: str) -> None:
    mark = reference_to(path)

    assert has_reference(mark)
    assert referenced_paths(f"see {mark}.") == [path]


def test_references_are_found_and_disarmed_however_deep() -> None:
    value: JsonValue = {"a": [1, {"b": "of <JSON_PATH>T1.x</JSON_PATH>"}]}

    assert has_reference(value)
    assert disarm_references(value) == {"a": [1, {"b": "of ‹JSON_PATH›T1.x‹/JSON_PATH›"}]}
