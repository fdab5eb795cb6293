"""Detect that the previous Temporal attempt was lost, and record the recovery of the job."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextvars import ContextVar
from datetime import datetime, timedelta
from typing import Any

import structlog
from temporalio import activity
from temporalio.exceptions import ApplicationError, TimeoutType
from temporalio.exceptions import TimeoutError as OutOfTime
from temporalio.worker import ExecuteActivityInput

from holdfast.activities.runtime.interceptors.around_interceptor import (
    AroundInterceptor,
    RunActivity,
)
from holdfast.activities.runtime.shared_results import SharedResults
from holdfast.models.errors import StorageAway
from holdfast.models.jobs.activity_orders import AttemptOrder
from holdfast.models.jobs.job_recovery import LossCause, LostAttempt
from holdfast.storage.core.database import Database
from holdfast.storage.core.database_outage import retry_until_available
from holdfast.storage.ledger import job_recovery_rows
from holdfast.storage.ledger.open_calls import has_call_under_way

_WORKER_DIED = "WorkerDied"
"""The type of error with which a supervisor ends the attempts of a worker that it saw die."""
_ASK_WITHIN = timedelta(seconds=5)
_PATIENCE_S = 20.0
"""Well below any activity's time limit: the next attempt must hear how this one ended."""

_REPLIES_WRITTEN_WITHIN_S = 5.0
"""Seconds after an outage of PostgreSQL in which each live worker has written what it kept: twice
the longest pause between two tries, and a second to connect."""

_CALLS_END_WITHIN_S = 600.0
"""The default time limit of a task: a worker that lives has ended or given its call up by then."""
_LOOK_EVERY_S = 1.0

_MAX_CACHED_RECOVERIES = 500

_recovery_id: ContextVar[int | None] = ContextVar("recovery", default=None)

log = structlog.get_logger(__name__)


def current_recovery_id() -> int | None:
    """The recovery during which this activity runs; None if no attempt was lost."""
    return _recovery_id.get()


class RecoveryInterceptor(AroundInterceptor):
    """Give an attempt that takes over from a lost attempt the number of its recovery.

    A first attempt is not delayed. If the recovery is unknown, only its receipt is missing.
    """

    def __init__(self, db: Database) -> None:
        self._recoveries = _Recoveries(db)

    async def around(self, input: ExecuteActivityInput, run: RunActivity) -> Any:  # noqa: A002, ANN401 - the SDK's names
        if activity.info().attempt > 1:
            _recovery_id.set(await self._recoveries.id_for(input.args[0]))
        return await run(input)


class _Recoveries:
    """The recoveries of jobs; one dead worker's attempts come together and share a transaction."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._ids: SharedResults[tuple[str, int | None, LostAttempt], int | None]
        self._ids = SharedResults(_MAX_CACHED_RECOVERIES)

    async def id_for(self, order: Any) -> int | None:  # noqa: ANN401 - whatever the activity takes
        try:
            error = await _error_of_previous_attempt()
            if _is_by_heartbeat(error):
                await let_replies_be_written(self._db)
                await let_open_calls_end(self._db, order)
            loss = _loss_by(error)
            if loss is None:
                return None
            job_id, epoch = order.job_id, getattr(order, "epoch", None)
            return await self._ids.of(
                (job_id, epoch, loss), lambda: self._begin(job_id, epoch, loss)
            )
        except StorageAway:
            # The activity cannot begin either; the next attempt reads since when.
            raise
        except Exception as error:
            log.warning("recovery.not_noted", kind=type(error).__name__, error=str(error)[:500])
            return None

    async def _begin(self, job_id: str, epoch: int | None, loss: LostAttempt) -> int | None:
        return await retry_until_available(
            lambda: job_recovery_rows.begin_recovery(self._db, job_id, loss, epoch),
            patience_s=_PATIENCE_S,
        )


async def let_replies_be_written(
    db: Database, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
) -> None:
    """Wait while another worker that lives may write a reply that it kept over an outage."""
    left_s = _REPLIES_WRITTEN_WITHIN_S - db.back_for_s
    if left_s > 0 and _last_worker() != activity.client().identity:
        await sleep(left_s)


async def let_open_calls_end(
    db: Database,
    order: Any,  # noqa: ANN401 - whatever the activity takes
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> None:
    """Wait while the worker of the last attempt has a call of this order under way.

    A worker that lives and writes to PostgreSQL cannot reach Temporal; its reply is paid for.
    """
    before, left_s = _last_worker(), _CALLS_END_WITHIN_S
    if before in ("", activity.client().identity) or not isinstance(order, AttemptOrder):
        return
    places = order.places
    while left_s > 0 and await has_call_under_way(db, order.job_id, places, worker=before):
        log.info("activity.waits_for_reply", worker=before, places=places.exact)
        await sleep(_LOOK_EVERY_S)
        left_s -= _LOOK_EVERY_S


def _is_by_heartbeat(error: BaseException | None) -> bool:
    """True if the attempt's heartbeats did not arrive; its worker may live."""
    return isinstance(error, OutOfTime) and error.type is TimeoutType.HEARTBEAT


def _loss_by(error: BaseException | None) -> LostAttempt | None:
    """Return how the previous attempt was lost; None if it ended by itself."""
    match error:
        case ApplicationError(type=kind, details=[facts]) if kind == _WORKER_DIED:
            at = datetime.fromisoformat(facts["died_at"])
            return LostAttempt(cause=LossCause.WORKER, lost_worker=facts["worker"], at=at)
        case ApplicationError(type=kind, details=details) if kind == StorageAway.__name__:
            return LostAttempt(cause=LossCause.DATABASE, at=_storage_lost_since(details))
        # Not start_to_close: a worker that exceeds the time is alive, or it would miss heartbeats.
        case _ if _is_by_heartbeat(error):
            return _loss_by_heartbeat()
    return None


async def _error_of_previous_attempt() -> BaseException | None:
    info, client = activity.info(), activity.client()
    handle = client.get_workflow_handle(info.workflow_id or "", run_id=info.workflow_run_id)
    described = await handle.describe(rpc_timeout=_ASK_WITHIN)
    for pending in described.raw_description.pending_activities:
        if pending.activity_id == info.activity_id and pending.HasField("last_failure"):
            return await client.data_converter.decode_failure(pending.last_failure)
    return None


def _storage_lost_since(details: Any) -> datetime:  # noqa: ANN401 - the SDK's type
    if details:
        return datetime.fromisoformat(details[0]["since"])
    return activity.info().current_attempt_scheduled_time


def _last_worker() -> str:
    """Return the worker of the last heartbeat that arrived; empty without one."""
    details = activity.info().heartbeat_details
    beat = details[0] if details and isinstance(details[0], Mapping) else {}
    return str(beat.get("worker", ""))


def _loss_by_heartbeat() -> LostAttempt:
    """Return the worker whose heartbeats stopped, if they were of the previous attempt."""
    info = activity.info()
    beat = info.heartbeat_details[0] if info.heartbeat_details else None
    if isinstance(beat, Mapping) and beat.get("attempt") == info.attempt - 1:
        at = datetime.fromisoformat(beat["at"])
        return LostAttempt(cause=LossCause.WORKER, lost_worker=beat["worker"], at=at)
    silent_for = info.heartbeat_timeout or timedelta(0)
    return LostAttempt(cause=LossCause.WORKER, at=info.current_attempt_scheduled_time - silent_for)
