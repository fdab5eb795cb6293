"""Halt a job that cannot be planned: say why, and log it."""

from collections.abc import Sequence

from holdfast.activities.runtime.activity_frame import ReceiptScope, Recorded
from holdfast.activities.runtime.halt_from_error import halt_of_error
from holdfast.models.errors import BadInput, Lasting
from holdfast.models.jobs.job_record import StopReason
from holdfast.models.jobs.job_state import Halt, PlanReceipt
from holdfast.models.text.message_limits import MessageLimit, cut_message
from holdfast.models.wire.event_kinds import EventKind
from holdfast.storage.core.database import JobTransaction


def planning_error_halt(error: Lasting, who: str) -> Halt:
    """Return the halt after an error of the planning itself, or of its model."""
    if isinstance(error, BadInput):
        return Halt(
            reason=StopReason.PLANNING_FAILED, message=cut_message(str(error), MessageLimit.FAILURE)
        )
    failed = f"the {who}'s model call failed"
    return halt_of_error(error, failed, otherwise=StopReason.PLANNING_FAILED)


def invalid_plan_halt(who: str, faults: Sequence[str]) -> Halt:
    """Return the halt of a job whose planner gave no valid plan."""
    listed = "; ".join(faults)
    message = f"the {who} gave no valid plan. Faults of its last attempt: {listed}"
    return Halt(
        reason=StopReason.PLANNING_FAILED, message=cut_message(message, MessageLimit.FAILURE)
    )


async def record_planning_halt(
    halt: Halt, tokens: int, tx: JobTransaction
) -> Recorded[PlanReceipt]:
    """Log the halt, and return a receipt that counts for this run: a later run plans again."""
    tx.event(
        EventKind.PLAN_REFUSED,
        reason=halt.reason.value,
        message=cut_message(halt.message, MessageLimit.ENTRY),
    )
    return Recorded(PlanReceipt(halt=halt, tokens=tokens), ReceiptScope.RUN)
