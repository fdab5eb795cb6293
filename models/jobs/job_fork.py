"""Define the fork of a job: the job that it begins from, and what of it runs again."""

from enum import StrEnum

from pydantic import Field

from holdfast.models.frozen_model import Frozen


class ForkCause(StrEnum):
    """Why a job was forked."""

    FORKED = "forked"
    """A person changed something."""
    REPLAYED = "replayed"
    """The job of a bundle runs again over its recorded answers."""
    UPDATED = "updated"
    """The sources of the report changed, or are gone."""


class Fork(Frozen):
    """The job that a fork began from, and what of it runs again."""

    job: str
    """The job that was forked; it may be removed later. Empty: the fork came in a bundle."""
    origins: tuple[str, ...]
    """The jobs whose recorded answers count: the forked job, the job that it was forked from ..."""
    day: str | None = None
    """The date that prompts name, ISO 8601; None: the day of the submission."""
    rerun: tuple[str, ...] = ()
    """The tasks that run again; empty: the whole job runs again."""
    again: tuple[str, ...] = ()
    """The tasks among them whose calls are sent again in spite of recorded answers."""
    is_frozen: bool = False
    """True if only recorded answers count: a call that no origin recorded is refused."""
    cause: ForkCause = ForkCause.FORKED
    changes: tuple[str, ...] = Field(default=(), description="what was changed, in words")

    def origins_of(self, place: str) -> tuple[str, ...]:
        """Return the jobs whose recorded answers count for the calls of a task, nearest first.

        `place` is a task, a step such as `T3.1`, or the label of calls without a task.
        """
        is_sent_again = any(place == name or place.startswith(f"{name}.") for name in self.again)
        return () if is_sent_again else self.origins
