"""Tests for the searches that a report names: each once, as a reader sees them."""

import pytest

from holdfast.planning.reports.shown_searches import shown_searches

LONG = "What does the agreement say of oxygen? " * 6


@pytest.mark.conformance("REP-05")
def test_searches_that_look_alike_are_named_once() -> None:
    searches = ["Who kept it?", "who  kept it", "Who kept it [1]", f"{LONG} a", f"{LONG} b", "Who?"]

    shown = shown_searches(searches)

    assert (shown[0], shown[-1]) == ("Who kept it?", "Who?")
    assert len(shown) == 3
