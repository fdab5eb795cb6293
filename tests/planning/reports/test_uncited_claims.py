"""Tests for sentences without a citation: what they may say, and what is a claim."""

import pytest

from holdfast.planning.reports.uncited_claims import claims_without_source

pytestmark = pytest.mark.conformance("REP-02")

KNOWN = (
    "When was Selby Bridge opened?",
    "1932",
    "Not found: what the building of the bridge cost",
)


@pytest.mark.parametrize(
    "sentence",
    [
        "The bridge was opened in 1932.",
        "What the bridge cost was not found.",
        "Nothing was read of the engineer's later life.",
        "The opening of Selby Bridge is the question.",
        "No document names the builder.",
        "The documents don't name the builder.",
        "The builder isn’t named.",
        "The documents are silent on the builder.",
        "Who built the bridge is unconfirmed.",
        "The two sources contradict each other on the opening of the bridge.",
    ],
)
def test_a_sentence_may_repeat_what_is_known_and_say_what_is_not(sentence: str) -> None:
    assert not claims_without_source(sentence, KNOWN)


@pytest.mark.parametrize(
    "sentence",
    [
        "The bridge was loved by the people of the town.",
        "A crowd came to the opening.",
        "The bridge is a masterpiece of engineering.",
    ],
)
def test_anything_else_is_a_claim(sentence: str) -> None:
    assert claims_without_source(sentence, KNOWN)
