"""Show as much of a growing list as a prompt has room for, and say what is left out."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

EntryT = TypeVar("EntryT")


@dataclass(frozen=True)
class BoundedEntries(Generic[EntryT]):
    """The entries that a prompt shows, in their order, and how many have no room."""

    shown: tuple[EntryT, ...] = ()
    left_out: int = 0


def first_that_fit(
    entries: Sequence[EntryT], room: int, length: Callable[[EntryT], int]
) -> BoundedEntries[EntryT]:
    """Return the first entries whose lengths together are at most `room`."""
    for count, each in enumerate(entries):
        room -= length(each)
        if room < 0:
            return BoundedEntries(tuple(entries[:count]), len(entries) - count)
    return BoundedEntries(tuple(entries))


def newest_that_fit(
    entries: Sequence[EntryT], room: int, length: Callable[[EntryT], int]
) -> BoundedEntries[EntryT]:
    """Return the last entries whose lengths together are at most `room`."""
    newest = first_that_fit(entries[::-1], room, length)
    return BoundedEntries(newest.shown[::-1], newest.left_out)


def left_out_in_words(counts: Mapping[str, int]) -> str:
    """Return how many entries of which field have no room; empty if all have."""
    return ", ".join(f"{count} of `{name}`" for name, count in counts.items() if count)
