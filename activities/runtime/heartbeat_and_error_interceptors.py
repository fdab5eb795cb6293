"""Interceptors of every activity: send heartbeats and translate errors for Temporal."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import structlog
from temporalio import activity
from temporalio.exceptions import ApplicationError, CancelledError
from temporalio.worker import (
    ActivityInboundInterceptor,
    ExecuteActivityInput,
    Interceptor,
)

from holdfast.models.calls.retry_pause import retry_pause
from holdfast.models.errors import HoldfastError, Passing, StorageAway
from holdfast.models.tasks.task_failure import REMEDIES, Remedy
from holdfast.models.text.message_limits import MessageLimit, cut_message

_TRIES_AT_A_FAULT = 3
_FIRST_BEAT_S = 0.5
"""The first pause: a short activity ends before its first heartbeat."""
_PAUSES_S = (1.0, 60.0)
_PAUSES_WITHOUT_STORAGE_S = (0.5, 5.0)
"""The longest pause while PostgreSQL is unavailable: asking again is free."""

log = structlog.get_logger(__name__)


class HeartbeatInterceptor(Interceptor):
    """Send heartbeats while an activity runs, so that a dead worker is noticed within seconds.

    A heartbeat proves that the process lives, not that the call progresses: start_to_close
    bounds the call. It names worker, time and attempt for the worker that takes over.
    """

    def intercept_activity(self, next: ActivityInboundInterceptor) -> ActivityInboundInterceptor:  # noqa: A002 - the SDK's name
        return _HeartbeatInbound(super().intercept_activity(next))


class _HeartbeatInbound(ActivityInboundInterceptor):
    async def execute_activity(self, input: ExecuteActivityInput) -> Any:  # noqa: A002, ANN401 - the SDK's signature
        timeout = activity.info().heartbeat_timeout
        if timeout is None:
            return await super().execute_activity(input)
        beating = asyncio.create_task(_send_heartbeats(timeout.total_seconds() / 3))
        try:
            return await super().execute_activity(input)
        finally:
            beating.cancel()
            await asyncio.gather(beating, return_exceptions=True)


async def _send_heartbeats(every_s: float) -> None:
    me, attempt = activity.client().identity, activity.info().attempt
    await asyncio.sleep(min(_FIRST_BEAT_S, every_s))
    while True:
        activity.heartbeat({"worker": me, "attempt": attempt, "at": datetime.now(UTC).isoformat()})
        await asyncio.sleep(every_s)


class ErrorInterceptor(Interceptor):
    """Translate our errors for Temporal: it retries `Passing` after a pause, and nothing else.

    The pause is the time that the other side asked for; otherwise it doubles with each attempt,
    up to a minute, or to 5 s while PostgreSQL is unavailable.
    """

    def intercept_activity(self, next: ActivityInboundInterceptor) -> ActivityInboundInterceptor:  # noqa: A002 - the SDK's name
        return _ErrorInbound(super().intercept_activity(next))


class _ErrorInbound(ActivityInboundInterceptor):
    async def execute_activity(self, input: ExecuteActivityInput) -> Any:  # noqa: A002, ANN401 - the SDK's signature
        info = activity.info()
        where = {"workflow_id": info.workflow_id, "activity_id": info.activity_id}
        with structlog.contextvars.bound_contextvars(**where):
            try:
                return await super().execute_activity(input)
            except HoldfastError as error:
                log.warning(
                    "activity.failed",
                    error=str(error)[:500],
                    kind=type(error).__name__,
                    attempt=info.attempt,
                )
                # Not `from error`: Temporal would store its causes, down to SQL with its values.
                raise _temporal_error(error, info.attempt) from None
            except (ApplicationError, CancelledError):
                raise
            except Exception as error:
                # A bug in Holdfast is retried, because a deployment may fix it, but not for hours.
                log.exception("activity.broke", attempt=info.attempt)
                raise _internal_error(error, info.attempt) from None


def _internal_error(error: Exception, attempt: int) -> ApplicationError:
    """Return an error with the type only: the text of a bug's error may contain private data."""
    kind = type(error).__name__
    return ApplicationError(
        f"Holdfast failed with {kind}; the worker's log has the details",
        type=kind,
        non_retryable=attempt >= _TRIES_AT_A_FAULT,
        next_retry_delay=retry_pause(*_PAUSES_S, attempt),
    )


def _temporal_error(error: HoldfastError, attempt: int) -> ApplicationError:
    return ApplicationError(
        cut_message(str(error), MessageLimit.ENTRY),
        *_error_details(error),
        type=type(error).__name__,
        non_retryable=REMEDIES[error.failure_class] is not Remedy.RETRY,
        next_retry_delay=_retry_delay(error, attempt) if isinstance(error, Passing) else None,
    )


def _error_details(error: HoldfastError) -> tuple[dict[str, str], ...]:
    """Return the details that the next attempt reads."""
    if isinstance(error, StorageAway) and error.since is not None:
        return ({"since": error.since.isoformat()},)
    return ()


def _retry_delay(error: Passing, attempt: int) -> timedelta:
    if error.after is not None:
        return error.after
    is_storage = isinstance(error, StorageAway)
    return retry_pause(*(_PAUSES_WITHOUT_STORAGE_S if is_storage else _PAUSES_S), attempt)
