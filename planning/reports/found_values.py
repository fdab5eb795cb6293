"""Tell found values that were read in sources from those that were computed or concluded."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from holdfast.models.evidence.evidence import StoredEvidence
from holdfast.planning.reports.evidence_selection import source_title
from holdfast.planning.reports.sentence_support import unsupported_parts


class FoundValues(NamedTuple):
    """The values of a job, as texts."""

    computed: Sequence[str]
    """With a number or a name that no quote has: no passage could be cited for it."""
    read: Sequence[str]
    """All their numbers and names stand in quotes, which a sentence can cite."""


def split_found_values(values: Iterable[str], evidence: Iterable[StoredEvidence]) -> FoundValues:
    """Return the values apart by whether the quotes of the evidence have them."""
    # As one text: every value is compared with all quotes.
    quotes = "\n".join(f"{source_title(item)}\n{item.quote}" for item in evidence)
    computed: list[str] = []
    read: list[str] = []
    for value in dict.fromkeys(values):
        (computed if unsupported_parts(value, [quotes]) else read).append(value)
    return FoundValues(computed, read)
