"""Define the failure of a task: failing component, failure class, message, and remedy."""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType

from pydantic import JsonValue

from holdfast.models.errors import FailureClass
from holdfast.models.frozen_model import Frozen
from holdfast.models.text.terminal_text import shorten_text

NO_VALID_ANSWER = "gave no valid answer"
"""What a role did; its faults follow, with orders to the model."""
NOTHING_FOUND = "found nothing for these arguments"
"""What a tool did; an order to the model follows."""


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
    """The effect of a failure."""

    RETRY = "retry"
    """Temporal retries the activity until the task's time is over; then the task is replanned."""
    ASK = "ask"
    """The job pauses until a person has acted."""
    REPLAN = "replan"
    STOP = "stop"
    """Every later call would fail as well: the job ends with the results so far."""


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


class WeakValue(Frozen):
    """A value that was found, with less confidence than a value needs."""

    name: str
    description: str = ""
    value: JsonValue
    confidence: float
    quote: str = ""
    """What shows the value, word for word; empty if nothing does."""
    title: str = ""
    """Of the quoted document; empty if the quote was given to the task by another."""
    address: str = ""


class Failure(Frozen):
    """Why a task failed; lists show the first line of `message`."""

    component: Component
    failure_class: FailureClass
    message: str
    missing: tuple[str, ...] = ()
    weak: tuple[str, ...] = ()
    weak_values: tuple[WeakValue, ...] = ()
    """The values of the entities in `weak`; no later task uses them, the report may name them."""
    mistyped: tuple[str, ...] = ()
    confidence: float | None = None
    reason: str = ""
    """The extractor's summary or the reasoner's explanation."""
    is_fatal: bool = False
    """True if the job cannot continue, for example because its key is refused."""

    @property
    def remedy(self) -> Remedy:
        """Return the effect of the failure, once retries are over."""
        remedy = REMEDIES[self.failure_class]
        return Remedy.REPLAN if remedy is Remedy.RETRY else remedy

    @property
    def first_line(self) -> str:
        """Return at most 200 characters for lists, summaries and receipts."""
        line = (self.message.strip().splitlines() or [""])[0]
        return shorten_text(line, 200)
