"""Tell found values that were read in sources from those that were computed or concluded."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from holdfast.models.evidence.evidence import StoredEvidence
from holdfast.planning.reports.evidence_selection import source_title, titled_source_text
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
    """No passage shows them: what was read for them lacks one of their numbers or names."""
    read: Sequence[str]
    """A sentence can cite what was read for them, which has all their numbers and names."""


def split_found_values(
    values: Iterable[FoundValue], evidence: Sequence[StoredEvidence]
) -> FoundValues:
    """Return the values apart by whether quotes, or the sources of their task, have them.

    A value that contains the text of a source was read, whatever it names.
    """
    # As one text: every value is compared with all quotes.
    quotes = "\n".join(f"{source_title(item)}\n{item.quote}" for item in evidence)
    read_for = defaultdict[str, dict[str, None]](dict)
    for item in evidence:
        read_for[item.task_id][titled_source_text(item)] = None
    sources = {item.source_text for item in evidence}

    def is_read(value: FoundValue) -> bool:
        is_long = bool(evidence) and len(value.text) > _LONGEST_COMPUTED
        if is_long or any(source in value.text for source in sources):
            return True
        return not unsupported_parts(value.text, [quotes, *read_for.get(value.task_id, ())])

    once = tuple(dict.fromkeys(values))
    read = dict.fromkeys(each.text for each in once if is_read(each))
    computed = dict.fromkeys(each.text for each in once if each.text not in read)
    return FoundValues([*computed], [*read])
