"""How the attempt before this one ended: one lost with its worker or PostgreSQL is recovered."""

from collections.abc import Mapping
from contextvars import ContextVar
from datetime import datetime, timedelta
from typing import Any

import structlog
from temporalio import activity
from temporalio.exceptions import ApplicationError, TimeoutType
from temporalio.exceptions import TimeoutError as OutOfTime
from temporalio.worker import (
    ActivityInboundInterceptor,
    ExecuteActivityInput,
    Interceptor,
)

from models.errors import StorageAway
from models.recoveries import Cause, Loss
from storage import recoveries
from storage.database import Database
from storage.patience import until_back

_WORKER_DIED = "WorkerDied"
"""The type of error with which a supervisor ends the attempts of a worker that it saw die."""
_ASK_WITHIN = timedelta(seconds=5)
_PATIENCE_S = 20.0
"""Well below any activity's time limit: the next attempt must hear how this one ended."""

_recovery: ContextVar[int | None] = ContextVar("recovery", default=None)

log = structlog.get_logger(__name__)


def current_recovery() -> int | None:
    """The job's recovery under which this activity goes on; None on its ordinary way."""
    return _recovery.get()


class Recoveries(Interceptor):
    """Lets an attempt that takes over from one that was lost know its recovery.

    A first attempt is not held up. Not knowing costs a receipt, never an activity.
    """

    def __init__(self, db: Database) -> None:
        self._db = db

    def intercept_activity(self, next: ActivityInboundInterceptor) -> ActivityInboundInterceptor:  # noqa: A002 - the SDK's name
        return _TakingOver(super().intercept_activity(next), self._db)


class _TakingOver(ActivityInboundInterceptor):
    def __init__(self, next: ActivityInboundInterceptor, db: Database) -> None:  # noqa: A002 - the SDK's name
        super().__init__(next)
        self._db = db

    async def execute_activity(self, input: ExecuteActivityInput) -> Any:  # noqa: A002, ANN401 - the SDK's signature
        if activity.info().attempt > 1:
            _recovery.set(await _recovery_of(self._db, input.args[0]))
        return await super().execute_activity(input)


async def _recovery_of(db: Database, order: Any) -> int | None:  # noqa: ANN401 - whatever the activity takes
    try:
        loss = await _loss()
        if loss is None:
            return None
        return await _begun(db, order, loss)
    except StorageAway:
        # The activity cannot begin either; and the next attempt is told since when.
        raise
    except Exception as error:
        log.warning("recovery.not_noted", kind=type(error).__name__, error=str(error)[:500])
        return None


async def _begun(db: Database, order: Any, loss: Loss) -> int | None:  # noqa: ANN401 - whatever the activity takes
    epoch = getattr(order, "epoch", None)
    return await until_back(
        lambda: recoveries.begin(db, order.job_id, loss, epoch), patience_s=_PATIENCE_S
    )


async def _loss() -> Loss | None:
    """How the attempt before this one was lost; None if it came to an end of its own."""
    match await _last_error():
        case ApplicationError(type=kind, details=[facts]) if kind == _WORKER_DIED:
            at = datetime.fromisoformat(facts["died_at"])
            return Loss(cause=Cause.WORKER, lost=facts["worker"], at=at)
        case ApplicationError(type=kind, details=details) if kind == StorageAway.__name__:
            return Loss(cause=Cause.DATABASE, at=_away_since(details))
        # Not start_to_close: whoever works too long lives, or would have missed a heartbeat before.
        case OutOfTime(type=TimeoutType.HEARTBEAT):
            return _missed()
    return None


async def _last_error() -> BaseException | None:
    info, client = activity.info(), activity.client()
    handle = client.get_workflow_handle(info.workflow_id or "", run_id=info.workflow_run_id)
    described = await handle.describe(rpc_timeout=_ASK_WITHIN)
    for pending in described.raw_description.pending_activities:
        if pending.activity_id == info.activity_id and pending.HasField("last_failure"):
            return await client.data_converter.decode_failure(pending.last_failure)
    return None


def _away_since(details: Any) -> datetime:  # noqa: ANN401 - the SDK's type
    if details:
        return datetime.fromisoformat(details[0]["since"])
    return activity.info().current_attempt_scheduled_time


def _missed() -> Loss:
    """The worker that stopped beating, by its last beat, if this one is of the attempt before."""
    info = activity.info()
    beat = info.heartbeat_details[0] if info.heartbeat_details else None
    if isinstance(beat, Mapping) and beat.get("attempt") == info.attempt - 1:
        at = datetime.fromisoformat(beat["at"])
        return Loss(cause=Cause.WORKER, lost=beat["worker"], at=at)
    silent_for = info.heartbeat_timeout or timedelta(0)
    return Loss(cause=Cause.WORKER, at=info.current_attempt_scheduled_time - silent_for)
