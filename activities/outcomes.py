"""What one attempt at a task came to, and how it is stored: all of it, or nothing."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from models.errors import (
    FailureClass,
    Lasting,
    OutcomeUnknown,
    ToolFailed,
    Unresolved,
)
from models.evidence import Located
from models.failures import REMEDIES, Component, Failure, Remedy
from models.jobs import StopReason
from models.orders import TaskOrder
from models.plan import Task, TaskStatus
from models.state import Halt, TaskReceipt
from models.text import shortened
from models.tools import ReadPassage
from planning.kpis import Candidate
from storage import tasks
from storage.ledger import Ledger
from storage.tasks import Attempt

_PREVIEW = 200


@dataclass(frozen=True)
class Outcome:
    """The entities to keep with their evidence, or the failure."""

    kept: tuple[Candidate, ...] = ()
    failure: Failure | None = None
    halt: Halt | None = None
    confidence: float | None = None
    read: tuple[ReadPassage, ...] = ()
    found: tuple[Located, ...] = ()
    trace: dict[str, Any] = field(default_factory=dict)


def receipt_key(order: TaskOrder) -> str:
    """The key of a task's receipt: one per attempt."""
    return f"{order.task_id}#{order.attempt}"


def failed_with(error: Lasting, component: Component) -> Outcome:
    """The outcome of an error that trying again cannot help.

    A refused key or a missing endpoint fails every later call as well, so it halts the job.
    """
    if isinstance(error, ToolFailed | OutcomeUnknown):
        component = Component.TOOL
    elif isinstance(error, Unresolved):
        component = Component.ENGINE
    is_fatal = REMEDIES[error.failure_class] is Remedy.STOP
    failure = Failure(
        component=component,
        failure_class=error.failure_class,
        message=str(error)[:4000],
        is_fatal=is_fatal,
    )
    halt = Halt(reason=StopReason.MODEL_REFUSED, message=str(error)[:2000]) if is_fatal else None
    return Outcome(failure=failure, halt=halt)


def given_up(message: str) -> Outcome:
    """The outcome of an attempt that Temporal ended: a time-out, or retries without success."""
    failure = Failure(
        component=Component.ENGINE, failure_class=FailureClass.TRANSPORT, message=message[:4000]
    )
    return Outcome(failure=failure)


async def store(
    ledger: Ledger, order: TaskOrder, task: Task, outcome: Outcome, tokens: int
) -> TaskReceipt:
    """Store the outcome and the receipt in one transaction; a failed task leaves no entities."""
    status = TaskStatus.FAILED if outcome.failure else TaskStatus.DONE
    receipt = TaskReceipt(
        task_id=task.id,
        attempt=order.attempt,
        status=status,
        confidence=outcome.confidence,
        preview=preview_of(outcome.kept, outcome.failure),
        failure_class=outcome.failure.failure_class if outcome.failure else None,
        halt=outcome.halt,
        tokens=tokens,
    )
    attempt = Attempt(
        task=task,
        receipt=receipt,
        kept=outcome.kept,
        failure=outcome.failure,
        read=outcome.read,
        found=outcome.found,
        trace=outcome.trace,
    )
    await tasks.finish(ledger, order, receipt_key(order), attempt)
    return receipt


def preview_of(kept: Sequence[Candidate], failure: Failure | None) -> str:
    """What came out, in a line that may go to lists and into Temporal's history."""
    if failure:
        return failure.first_line
    found = (f"{each.name} = {_short(each.value)}" for each in kept)
    return shortened("; ".join(found), _PREVIEW)


def _short(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return shortened(" ".join(text.split()), 80)
