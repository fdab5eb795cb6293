"""How long the messages are that a job stores."""

import pytest

from holdfast.models.text.message_limits import MessageLimit, cut_message


@pytest.mark.parametrize("limit", MessageLimit)
def test_a_message_is_cut_at_its_limit_and_a_shorter_one_stays(limit: MessageLimit) -> None:
    longest = "é" * limit

    assert cut_message(longest, limit) == longest
    assert cut_message(f"{longest}!", limit) == longest
