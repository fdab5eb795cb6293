"""Define which jobs a list shows."""

from pydantic import Field

from holdfast.models.frozen_model import Frozen

MAX_LISTED_JOBS = 1000


class JobFilter(Frozen):
    """The newest jobs first, of all that the fields allow; None allows every value."""

    limit: int = Field(default=20, ge=1, le=MAX_LISTED_JOBS)
    status: str | None = None
    preset: str | None = None
    owner: str | None = None
    after: str | None = None
    """The last job of the part of the list that the caller has."""
    words: str = ""
    """A text that the question or the answer contains, in any case."""
