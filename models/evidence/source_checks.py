"""Define the result of reading a cited source again: unchanged, moved, changed or gone."""

from datetime import datetime
from enum import StrEnum

from holdfast.models.frozen_model import Frozen


class SourceDrift(StrEnum):
    """The state of a source compared with the quote from it."""

    UNCHANGED = "unchanged"
    MOVED = "moved"
    """The quote is at another place in the document."""
    CHANGED = "changed"
    """The document exists, but does not contain the quote."""
    GONE = "gone"
    """The document does not exist any more."""
    UNREADABLE = "unreadable"
    """The document cannot be read now, so nothing is known."""


class SourceCheck(Frozen):
    """The result of reading a source again, for one piece of evidence."""

    evidence_id: int
    verdict: SourceDrift
    note: str = ""
    """The place of the quote now, or why nothing is known."""
    nearest_text: str = ""
    """The most similar text now, if the quote is not there."""


class StoredSourceCheck(SourceCheck):
    """A stored source check with its time."""

    checked_at: datetime
