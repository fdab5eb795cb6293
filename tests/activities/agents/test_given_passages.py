"""Test that an agent is shown the quotes of the tasks that it depends on, without empty lines."""

from holdfast.activities.agents.given_passages import given_passages
from holdfast.models.calls.tool_signatures import SourcePassage
from holdfast.planning.loop.passage_numbers import PassageNumbers
from holdfast.storage.plans.given_quote_queries import GivenQuote

TEXT = "The line had one owner.\n\nThe council ran one vessel at a time."


def test_a_quote_after_a_paragraph_is_shown_without_an_empty_sentence() -> None:
    passage = SourcePassage(address="line.md", title="The line", text=TEXT)
    start = TEXT.index("The council")
    quote = GivenQuote(passage, start, start + 20, step_id="T1.1", step_attempt=1)

    (shown,) = given_passages([quote], PassageNumbers()).shown

    assert shown.sentences == ("The line had one owner.", "The council ran one vessel at a time.")
