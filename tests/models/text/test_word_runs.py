"""Tests of finding and replacing runs of words that stand in other texts."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.models.text.word_runs import WordRuns

SOURCE = "The tower was designed by Orlan Tréave, then Engineer to the Board."
RUNS = WordRuns([SOURCE], 6)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"He says: “{SOURCE}” [1]", "He says: “[X].” [1]"),
        ("- the TOWER was\n designed by Orlan in May", "- [X] in May"),
        ("The tower was designed by", "The tower was designed by"),
        (json.dumps({"a": "x\n" + SOURCE}), '{"a": "x\\n[X]."}'),
        (json.dumps(json.dumps([SOURCE, "y"])), '"[\\"[X].\\", \\"y\\"]"'),
    ],
)
def test_a_run_is_replaced_however_it_is_written(text: str, expected: str) -> None:
    assert RUNS.replaced(text, "[X]") == expected


def test_signs_of_a_script_without_spaces_are_words() -> None:
    runs = WordRuns(["灯塔由工程师设计并建造完成"], 6)

    assert runs.replaced("他说灯塔由工程师设计的。", "[X]") == "他说[X]的。"


def test_a_run_that_the_spared_text_has_as_well_stays() -> None:
    runs = WordRuns([SOURCE], 6, spared=["Who says that the tower was designed by Orlan?"])

    assert runs.replaced("the tower was designed by Orlan", "[X]").endswith("by Orlan")
    assert runs.replaced("by Orlan Tréave, then Engineer to", "[X]") == "[X]"


@given(st.lists(st.sampled_from(["a", "b", "é", "c.", "d\\", "\\n"]), max_size=30))
def test_no_run_is_left_and_nothing_else_is_lost(words: list[str]) -> None:
    text = " ".join(words)
    runs = WordRuns(["a b é c a b"], 3)

    replaced = runs.replaced(text, "#")

    assert runs.replaced(replaced, "!") == replaced
    assert text.startswith(replaced.split("#")[0])
    assert text.endswith(replaced.split("#")[-1])
