"""Tests of names whose quote has only their short form."""

import pytest

from holdfast.planning.reports.short_forms import introduced_names

LIGHTS = "The Board of Lights was founded in 1803. Its first head was Ada Lindqvist."
DECIDED = "In 1911 the Board decided to close the station."


@pytest.mark.conformance("LOOP-03")
@pytest.mark.parametrize(
    ("sentence", "quote", "full"),
    [
        ("The Board of Lights decided it.", DECIDED, "board of lights"),
        ("In 1911, the Board of Lights decided it.", "The Board’s decision", "board of lights"),
        ("Ada Lindqvist agreed.", "Lindqvist agreed in May", "ada lindqvist"),
    ],
)
def test_a_short_form_stands_for_the_full_name_that_its_document_introduces(
    sentence: str, quote: str, full: str
) -> None:
    assert introduced_names(sentence, quote, [LIGHTS, DECIDED]) == [full]


@pytest.mark.conformance("LOOP-03")
@pytest.mark.parametrize(
    ("sentence", "quote", "document"),
    [
        ("The Board of Trade decided it.", DECIDED, LIGHTS),  # another name
        ("The Board of Lights decided it.", DECIDED, DECIDED),  # introduced nowhere
        ("The Board of Lights decided it.", DECIDED, f"{LIGHTS} So did the Board of Trade."),
        ("The Board of Lights decided it.", "the Board of Trade decided", LIGHTS),
        ("The Board of Lights decided it.", "Lights went out in 1911", LIGHTS),
        ("The Board of Lights decided it.", "it was decided by the ministry", LIGHTS),
        ("Ida Lindqvist agreed.", "Lindqvist agreed in May", LIGHTS),
        ("Ada Lindqvist agreed.", "Lindqvist agreed", f"{LIGHTS} Her aunt Ida Lindqvist swam."),
        ("Ada Lindqvist agreed.", "Ida Lindqvist agreed", LIGHTS),
    ],
)
def test_a_wrong_an_unknown_and_an_ambiguous_name_stay_refused(
    sentence: str, quote: str, document: str
) -> None:
    assert introduced_names(sentence, quote, [document]) == []
