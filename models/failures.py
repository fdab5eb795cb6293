"""What went wrong with a task, in a form that a replanner, a reader and a query can use."""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType

from models.base import Frozen
from models.errors import FailureClass
from models.text import shortened


class Component(StrEnum):
    """The part of the engine in which a failure arose (KPI-Chain, figure 3a)."""

    PLANNER = "planner"
    REPLANNER = "replanner"
    TOOL = "tool"
    EXTRACTOR = "extractor"
    REASONER = "reasoner"
    AGENT = "agent"
    ENGINE = "engine"


class Remedy(StrEnum):
    """What a failure leads to."""

    RETRY = "retry"
    """By Temporal, until the task's patience is over; then it is replanned."""
    ASK = "ask"
    """The job pauses until a person has acted."""
    REPLAN = "replan"
    STOP = "stop"
    """Every later call would fail as well: the job ends, with what it found."""


REMEDIES: Mapping[FailureClass, Remedy] = MappingProxyType(
    {
        FailureClass.TRANSPORT: Remedy.RETRY,
        FailureClass.QUOTA: Remedy.ASK,
        FailureClass.SEMANTIC: Remedy.REPLAN,
        FailureClass.TOOL: Remedy.REPLAN,
        FailureClass.STATE: Remedy.REPLAN,
        FailureClass.POLICY: Remedy.STOP,
    }
)


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
    def remedy(self) -> Remedy:
        """What it leads to now that the task has failed: retrying is over."""
        remedy = REMEDIES[self.failure_class]
        return Remedy.REPLAN if remedy is Remedy.RETRY else remedy

    @property
    def first_line(self) -> str:
        """At most 200 characters for lists, summaries and receipts."""
        line = (self.message.strip().splitlines() or [""])[0]
        return shortened(line, 200)
