"""Tests for sentences and the passages they cite: quotes, numbers and names are compared letter by
letter."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.planning.reports.sentence_support import is_quotation, unsupported_parts

PASSAGE = (
    "Selby Bridge\nSelby Bridge was opened in 1932 by Ada Marsh. It is 1,200 metres long, has "
    "five arches, and cost 900.50 pounds. Ada Marsh's office was on Quay Street."
)


@pytest.mark.parametrize(
    "sentence",
    [
        "Selby Bridge was opened in 1932.",
        "Interestingly, the bridge was opened by Ada Marsh.",
        "The bridge is 1200 metres long and has 5 arches.",
        "It cost 900.5 pounds.",
        "Selby Bridge: “opened in 1932\nby  Ada Marsh”",
        'The source says "five arches".',
        "Marsh's office stood on Quay Street.",
        "After 1932 the bridge was open.",
        "Nobody knows.",
    ],
)
def test_a_sentence_whose_quotes_numbers_and_names_are_in_its_passage_has_no_fault(
    sentence: str,
) -> None:
    assert unsupported_parts(sentence, [PASSAGE]) == []


@pytest.mark.parametrize(
    ("sentence", "fault"),
    [
        ("It was opened in 1923.", "1923"),
        ("The bridge was opened by Ida Marsh.", "'Ida'"),
        ("The source says “closed in 1932”.", "closed in 1932"),
        ("It is 12 metres long.", "number 12 "),
        ("Orla Finch opened it.", "'Orla'"),
        ("It has 7 arches.", "number 7 "),
        ("It stands in Norland.", "'Norland'"),
    ],
)
def test_what_the_passage_does_not_have_is_named(sentence: str, fault: str) -> None:
    assert any(fault in each for each in unsupported_parts(sentence, [PASSAGE]))


def test_what_is_known_may_be_said_without_a_passage() -> None:
    assert unsupported_parts("Orla Finch was 41.", [], ["Who was Orla Finch?", "41"]) == []
    assert len(unsupported_parts("It was Orla Finch who was 42.", [], ["Who was Orla Finch?"])) == 1


def test_a_fault_is_about_the_passages_that_are_cited_and_no_others() -> None:
    other = "Orme Gate was built in 1871."

    assert unsupported_parts("It was built in 1871.", [PASSAGE]) != []
    assert unsupported_parts("It was built in 1871.", [PASSAGE, other]) == []


@given(st.text(max_size=200))
def test_a_quote_of_any_text_has_no_fault(text: str) -> None:
    quoted = text.replace("“", "").replace("”", "").replace('"', "")

    assert unsupported_parts(f"“{quoted}”", [f"Title\n{quoted}"]) == []


@given(st.text(max_size=200), st.text(max_size=200))
def test_any_sentence_can_be_checked_against_any_passage(sentence: str, passage: str) -> None:
    assert all(unsupported_parts(sentence, [passage]))


def test_only_what_says_no_more_than_its_passage_is_a_quotation() -> None:
    assert is_quotation("Selby Bridge: “opened in 1932”", [PASSAGE])
    assert is_quotation("It is 1,200 metres long.", [PASSAGE])
    assert not is_quotation("Orme Gate: “opened in 1932”", [PASSAGE])
    assert not is_quotation("Selby Bridge is the oldest: “opened in 1932”", [PASSAGE])
    assert not is_quotation("It was opened in 1932 by Ada Marsh, and closed.", [PASSAGE])
    assert not is_quotation("It is known.", [])
