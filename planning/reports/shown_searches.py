"""Choose the searches that a report without an answer names, in the words that were searched."""

from collections.abc import Iterable

from holdfast.models.text.report_marks import without_marks
from holdfast.models.text.terminal_text import shorten_text

_MOST_SEARCHES = 20
_MAX_SEARCH_CHARS = 200


def shown_searches(searches: Iterable[str]) -> tuple[str, ...]:
    """Return the first searches, each cut, without those that look like one before.

    For a reader, two searches that differ in case, spaces or a final sign are one; so are two
    whose difference was cut off.
    """
    shown: dict[str, str] = {}
    for each in searches:
        text = without_marks(shorten_text(each, _MAX_SEARCH_CHARS))
        shown.setdefault(" ".join(text.split()).casefold().rstrip(" .?!"), text)
    return tuple(shown.values())[:_MOST_SEARCHES]
