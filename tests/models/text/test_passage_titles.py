"""Test that a passage is named by its title and headings, each once."""

import pytest

from holdfast.models.text.passage_titles import title_with_headings


@pytest.mark.parametrize(
    ("heading", "name"),
    [
        ("", "Budgets"),
        ("Budgets", "Budgets"),
        ("Budgets > The cap", "Budgets > The cap"),
        ("The cap", "Budgets > The cap"),
    ],
)
def test_a_title_that_the_headings_repeat_counts_once(heading: str, name: str) -> None:
    assert title_with_headings("Budgets", heading) == name
