"""What became of a cited passage where it was read, when its source is read again."""

from datetime import datetime
from enum import StrEnum

from models.base import Frozen


class Drift(StrEnum):
    """How a source stands to what was quoted from it."""

    UNCHANGED = "unchanged"
    MOVED = "moved"
    """The same words stand elsewhere in the document."""
    CHANGED = "changed"
    """The document is there, and the words are not."""
    GONE = "gone"
    """There is no such document any more."""
    UNREADABLE = "unreadable"
    """It cannot be read now, so nothing is known."""


class SourceCheck(Frozen):
    """What one look at a source came to, for one piece of evidence."""

    evidence_id: int
    verdict: Drift
    note: str = ""
    """Where the words stand now, or why nothing is known."""
    nearest: str = ""
    """Where the words are not there: what is most like them now."""


class KeptCheck(SourceCheck):
    """A look as it is stored, with its time."""

    checked_at: datetime
