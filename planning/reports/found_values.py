"""Tell found values that were read in sources from those that were computed or concluded."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from holdfast.models.evidence.evidence import StoredEvidence
from holdfast.planning.reports.evidence_selection import source_title
from holdfast.planning.reports.sentence_support import unsupported_parts

_LONGEST_COMPUTED = 1_000
"""Characters; a longer value is what a tool said, such as the passages that a search found."""


class FoundValue(NamedTuple):
    """A value of a job, as a text."""

    text: str
    task_id: str = ""
    """The task that found the value; empty: the answer of the job."""


class FoundValues(NamedTuple):
    """The values of a job, as texts."""

    computed: Sequence[str]
    """With a number or a name that nothing has that was read for it: no passage shows it."""
    read: Sequence[str]
    """All their numbers and names stand in what was read, which a sentence can cite."""


def split_found_values(
    values: Iterable[FoundValue], evidence: Sequence[StoredEvidence]
) -> FoundValues:
    """Return the values apart by whether quotes, or the sources of their task, have them.

    A value that is the text of a source was read, whatever its names are.
    """
    # As one text: every value is compared with all quotes.
    quotes = "\n".join(f"{source_title(item)}\n{item.quote}" for item in evidence)
    read_for = defaultdict[str, dict[str, None]](dict)
    for item in evidence:
        read_for[item.task_id][f"{source_title(item)}\n{item.source_text}"] = None
    texts = {item.source_text for item in evidence}
    computed: dict[str, None] = {}
    read: dict[str, None] = {}
    for value in dict.fromkeys(values):
        is_read = bool(evidence) and (
            len(value.text) > _LONGEST_COMPUTED or any(text in value.text for text in texts)
        )
        shown = [quotes, *read_for.get(value.task_id, ())]
        (read if is_read or not unsupported_parts(value.text, shown) else computed)[value.text] = (
            None
        )
    return FoundValues([text for text in computed if text not in read], [*read])
