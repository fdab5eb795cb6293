"""What went wrong with a task, in a form that a replanner, a reader and a query can use."""

from enum import StrEnum

from models.base import Frozen
from models.errors import FailureClass


class Component(StrEnum):
    """The part of the engine in which a failure arose (KPI-Chain, figure 3a)."""

    PLANNER = "planner"
    REPLANNER = "replanner"
    TOOL = "tool"
    EXTRACTOR = "extractor"
    REASONER = "reasoner"
    ENGINE = "engine"


class Failure(Frozen):
    """Why a task failed; `message` is the whole feedback, `first_line` of it goes to lists."""

    component: Component
    failure_class: FailureClass
    message: str
    missing: tuple[str, ...] = ()
    weak: tuple[str, ...] = ()
    mistyped: tuple[str, ...] = ()
    confidence: float | None = None
    reason: str = ""
    """The extractor's summary or the reasoner's explanation."""
    is_fatal: bool = False
    """Whether the job cannot go on: a refused key fails every later call as well."""

    @property
    def first_line(self) -> str:
        """At most 200 characters for lists, summaries and receipts."""
        line = (self.message.strip().splitlines() or [""])[0]
        return line if len(line) <= 200 else f"{line[:199]}…"
