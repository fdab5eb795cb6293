"""Run an activity's work once: find its receipt, or do the work, record it and keep a receipt.

Temporal runs an activity again whenever its completion is lost, so every activity that writes does
the same four things, and `work_once` is the only place that does them:

1. Find the stored receipt under the activity's key; if there is one, return it.
2. Do the work, such as model calls and tool calls. No transaction is open meanwhile; calls that
   were answered before come from the call ledger.
3. In one job transaction, refuse a second receipt, record the result and keep the receipt.
4. Return the receipt.

The work returns the function that records its result, because the result often decides what to
record. That function returns the receipt with how long it counts (`ReceiptScope`): for the whole
job, for this workflow run alone (a halt: a key that a model refuses today may be accepted in the
next run), or not at all (an agent's question: after the answer, the agent takes the same turn).

An activity class is a frozen dataclass with one field, `Services`. Its methods are marked with
`implements`, and `activities.registration` finds the methods there.

Tool tasks and reasoning tasks are not run here: their receipt is read and kept by the two SQL
statements that begin and finish a task (`storage.plans.task_transactions`), because they are the
activities that a job runs by the hundred.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import Enum
from typing import Generic, TypeAlias, TypeVar

from holdfast.models.jobs.activity_orders import RunOrder
from holdfast.models.jobs.event_mark import Receipt
from holdfast.models.wire import stored_keys
from holdfast.storage.core import receipt_rows
from holdfast.storage.core.database import Database, JobTransaction

ReceiptT = TypeVar("ReceiptT", bound=Receipt)


class ReceiptScope(Enum):
    """How long a receipt counts."""

    JOB = "job"
    RUN = "run"
    """Until the next workflow run of the job."""
    NONE = "none"
    """Not kept: the activity runs again under the same key."""


@dataclass(frozen=True)
class Recorded(Generic[ReceiptT]):
    """The receipt of a recorded result, and how long it counts."""

    receipt: ReceiptT
    scope: ReceiptScope = ReceiptScope.JOB


Record: TypeAlias = Callable[[JobTransaction], Awaitable[Recorded[ReceiptT]]]
"""Records a result in the job transaction that also keeps the receipt."""


async def work_once(
    db: Database,
    order: RunOrder,
    key: str,
    kind: type[ReceiptT],
    work: Callable[[], Awaitable[Record[ReceiptT]]],
) -> ReceiptT:
    """Return the receipt under `key`; if there is none, do the work and record its result.

    Raises:
        Overtaken: another attempt recorded the same work first; a repetition finds its receipt.
        StaleEpoch: a newer workflow run has taken over.
        StateBehind: PostgreSQL was restored, and lacks what the run has seen.
        NotFound: there is no such job.
        StorageAway: PostgreSQL does not answer.
    """
    stored = await receipt_rows.find_receipt(db, order, key, kind)
    if stored is not None:
        return stored
    record = await work()
    async with db.job(order.job_id, order.epoch, order.seen) as tx:
        await receipt_rows.refuse_second_receipt(tx, key)
        recorded = await record(tx)
        receipt = recorded.receipt.model_copy(update={"seen": await tx.newest_event()})
        await _keep_receipt(tx, key, Recorded(receipt, recorded.scope))
    return receipt


async def record_once(
    db: Database, order: RunOrder, key: str, kind: type[ReceiptT], record: Record[ReceiptT]
) -> ReceiptT:
    """`work_once` for an activity that only records.

    Raises:
        As `work_once`.
    """

    async def no_work() -> Record[ReceiptT]:
        return record

    return await work_once(db, order, key, kind, no_work)


async def _keep_receipt(tx: JobTransaction, key: str, recorded: Recorded[ReceiptT]) -> None:
    match recorded.scope:
        case ReceiptScope.JOB:
            await receipt_rows.keep_receipt(tx, key, recorded.receipt)
        case ReceiptScope.RUN:
            run_key = stored_keys.receipt_key_of_run(key, tx.held.epoch)
            await receipt_rows.keep_receipt(tx, run_key, recorded.receipt)
        case ReceiptScope.NONE:
            return
