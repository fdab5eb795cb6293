"""Tests of the lists that a prompt shows as far as it has room."""

from hypothesis import given
from hypothesis import strategies as st

from holdfast.planning.text.bounded_entries import (
    first_that_fit,
    left_out_in_words,
    newest_that_fit,
)

_ENTRIES = st.lists(st.text(max_size=20))


@given(_ENTRIES, st.integers(0, 200))
def test_entries_keep_their_order_and_fit_into_the_room(entries: list[str], room: int) -> None:
    first, newest = first_that_fit(entries, room, len), newest_that_fit(entries, room, len)

    for each in (first, newest):
        assert sum(map(len, each.shown)) <= room
        assert len(each.shown) + each.left_out == len(entries)
    assert list(first.shown) == entries[: len(first.shown)]
    assert list(newest.shown) == entries[newest.left_out :]


def test_the_newest_entries_stay_where_the_room_ends() -> None:
    assert newest_that_fit(["old", "mid", "new"], 6, len).shown == ("mid", "new")
    assert first_that_fit(["old", "mid", "new"], 6, len).shown == ("old", "mid")


def test_a_prompt_says_how_many_entries_of_which_field_are_left_out() -> None:
    assert (
        left_out_in_words({"given": 0, "earlier": 4, "tried": 1}) == "4 of `earlier`, 1 of `tried`"
    )
    assert left_out_in_words({"given": 0}) == ""
