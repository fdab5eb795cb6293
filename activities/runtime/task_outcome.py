"""The outcome of one task attempt, and how it is stored with its receipt in one transaction."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from holdfast.activities.runtime.halt_from_error import halt_of_error
from holdfast.models.calls.tool_signatures import SourcePassage
from holdfast.models.errors import (
    FailureClass,
    Lasting,
    OutcomeUnknown,
    ToolFailed,
    Unresolved,
)
from holdfast.models.evidence.evidence import LocatedQuote
from holdfast.models.jobs.activity_orders import TaskOrder
from holdfast.models.jobs.job_state import Halt, TaskReceipt
from holdfast.models.plans.research_plan import Task, TaskStatus
from holdfast.models.tasks.attempt_results import EntityValue
from holdfast.models.tasks.task_failure import (
    NO_VALID_ANSWER,
    REMEDIES,
    Component,
    Failure,
    Remedy,
)
from holdfast.models.text.message_limits import MessageLimit, cut_message
from holdfast.models.text.storable_text import storable_text
from holdfast.models.text.terminal_text import shorten_text
from holdfast.models.text.value_text import value_as_text
from holdfast.models.wire import stored_keys
from holdfast.storage.ledger.call_ledger import CallLedger
from holdfast.storage.plans import task_transactions
from holdfast.storage.plans.task_transactions import TaskAttemptOutcome

_PREVIEW = 200


@dataclass(frozen=True)
class TaskOutcome:
    """The entities to keep with their evidence, or the failure."""

    kept: tuple[EntityValue, ...] = ()
    failure: Failure | None = None
    halt: Halt | None = None
    confidence: float | None = None
    read: tuple[SourcePassage, ...] = ()
    found: tuple[LocatedQuote, ...] = ()
    trace: dict[str, Any] = field(default_factory=dict)

    def with_note(self, note: str) -> "TaskOutcome":
        """Return the outcome with a note on its call, for those who decide what follows.

        The note stands in the trace of an agent's step, and in the failure that a replanner reads.
        """
        if not note:
            return self
        noted = replace(self, trace={**self.trace, "note": storable_text(note)})
        if self.failure is None:
            return noted
        message = cut_message(
            f"{self.failure.message[:3000]}\nNote: {storable_text(note)}", MessageLimit.FAILURE
        )
        return replace(noted, failure=self.failure.model_copy(update={"message": message}))


def receipt_key(order: TaskOrder) -> str:
    """The key of a task's receipt: one per attempt."""
    return stored_keys.task_receipt(order.task_id, order.attempt)


def outcome_of_error(error: Lasting, component: Component) -> TaskOutcome:
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
        message=cut_message(str(error), MessageLimit.FAILURE),
        is_fatal=is_fatal,
    )
    return TaskOutcome(failure=failure, halt=halt_of_error(error) if is_fatal else None)


def outcome_of_abandoned_attempt(message: str) -> TaskOutcome:
    """The outcome of an attempt that Temporal ended: a time-out, or retries without success."""
    failure = Failure(
        component=Component.ENGINE,
        failure_class=FailureClass.TRANSPORT,
        message=cut_message(message, MessageLimit.FAILURE),
    )
    return TaskOutcome(failure=failure)


def invalid_answer_failure(role: Component, faults: Sequence[str]) -> Failure:
    """The failure of a task whose role gave no valid answer."""
    return Failure(
        component=role,
        failure_class=FailureClass.SEMANTIC,
        message=cut_message(
            f"The {role.value} {NO_VALID_ANSWER}: {'; '.join(faults)}", MessageLimit.FAILURE
        ),
    )


async def store_outcome(
    ledger: CallLedger,
    order: TaskOrder,
    task: Task,
    outcome: TaskOutcome,
    *,
    tokens: int,
    worked_s: float,
) -> TaskReceipt:
    """Store the outcome and the receipt in one transaction; a failed task leaves no entities."""
    status = TaskStatus.FAILED if outcome.failure else TaskStatus.DONE
    receipt = TaskReceipt(
        task_id=task.id,
        attempt=order.attempt,
        status=status,
        confidence=outcome.confidence,
        preview=result_preview(outcome.kept, outcome.failure),
        failure_class=outcome.failure.failure_class if outcome.failure else None,
        halt=outcome.halt,
        tokens=tokens,
        seconds=worked_s,
    )
    attempt = TaskAttemptOutcome(
        task=task,
        receipt=receipt,
        kept=outcome.kept,
        failure=outcome.failure,
        read=outcome.read,
        found=outcome.found,
        trace=outcome.trace,
    )
    return await task_transactions.finish_task(ledger, order, receipt_key(order), attempt)


def result_preview(kept: Sequence[EntityValue], failure: Failure | None) -> str:
    """The result or the failure in one line, for lists and for Temporal's history."""
    if failure:
        return failure.first_line
    values = (f"{entity.name} = {_short_value(entity.value)}" for entity in kept)
    return shorten_text("; ".join(values), _PREVIEW)


def _short_value(value: object) -> str:
    text = value_as_text(value)
    return shorten_text(" ".join(text.split()), 80)
