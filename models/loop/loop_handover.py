"""Define why an opening loop hands over to the planner, and what the planner gets from it."""

from enum import StrEnum

from holdfast.models.frozen_model import Frozen


class HandoverCause(StrEnum):
    """Why a loop did not answer the whole question."""

    WIDE = "wide"
    """The question is wide: the loop named sub-questions instead of an answer."""
    OPEN = "open"
    """The searches did not find a link of the answer."""
    LIMIT = "limit"
    """The loop reached a limit before it had the answer."""
    REFUSED = "refused"
    """The proof refused what the answer needs."""
    FAILED = "failed"
    """The loop itself failed."""


class Handover(Frozen):
    """Why a job needs a plan after its loop."""

    cause: HandoverCause
    why: str
    """In words, without what is open: the planner gets that by itself."""


class ProvenFact(Frozen):
    """A sentence that the loop proved, with the titles of the sources that show it."""

    text: str
    sources: tuple[str, ...] = ()


class SourceExcerpt(Frozen):
    """The beginning of a passage that the loop read."""

    title: str
    text: str


class LoopFindings(Frozen):
    """What a loop leaves to the planner."""

    task: str
    """The loop's task; a task that needs what it proved depends on it. Empty: the loop failed."""
    why: str
    proven: tuple[ProvenFact, ...] = ()
    open: tuple[str, ...] = ()
    """The links, or the sub-questions, that are not answered."""
    tried: tuple[str, ...] = ()
    """The calls so far, in words."""
    read: tuple[SourceExcerpt, ...] = ()
