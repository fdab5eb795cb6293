"""Translate the errors of every activity for Temporal, with the pause before the next attempt."""

from typing import Any

import structlog
from temporalio import activity
from temporalio.exceptions import ApplicationError, CancelledError
from temporalio.worker import ExecuteActivityInput

from holdfast.activities.runtime.interceptors.around_interceptor import (
    AroundInterceptor,
    RunActivity,
)
from holdfast.activities.runtime.interceptors.work_time_interceptor import faults_so_far
from holdfast.activities.runtime.retry_pauses import pause_after_error, pause_after_fault
from holdfast.models.errors import HoldfastError, Passing, StorageAway, WorkTimeOver
from holdfast.models.tasks.task_failure import REMEDIES, Remedy
from holdfast.models.text.message_limits import MessageLimit, cut_message

_TRIES_AT_A_FAULT = 3

log = structlog.get_logger(__name__)


class ErrorInterceptor(AroundInterceptor):
    """Translate our errors for Temporal: it retries `Passing` after a pause, and nothing else.

    The pause is the time that the other side asked for; otherwise it doubles with each failure,
    up to a minute, or to 5 s while PostgreSQL is unavailable.
    """

    async def around(self, input: ExecuteActivityInput, run: RunActivity) -> Any:  # noqa: A002, ANN401 - the SDK's names
        info = activity.info()
        where = {"workflow_id": info.workflow_id, "activity_id": info.activity_id}
        with structlog.contextvars.bound_contextvars(**where):
            try:
                return await run(input)
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
                # Attempts that an outage ended do not count as tries.
                raise _internal_error(error, faults_so_far() or info.attempt) from None


def _internal_error(error: Exception, faults: int) -> ApplicationError:
    """Return an error with the type only: the text of a bug's error may contain private data."""
    kind = type(error).__name__
    return ApplicationError(
        f"Holdfast failed with {kind}; the worker's log has the details",
        type=kind,
        non_retryable=faults >= _TRIES_AT_A_FAULT,
        next_retry_delay=pause_after_fault(faults),
    )


def _temporal_error(error: HoldfastError, attempt: int) -> ApplicationError:
    return ApplicationError(
        cut_message(str(error), MessageLimit.ENTRY),
        *_error_details(error),
        type=type(error).__name__,
        non_retryable=REMEDIES[error.failure_class] is not Remedy.RETRY,
        next_retry_delay=pause_after_error(error, attempt) if isinstance(error, Passing) else None,
    )


def _error_details(error: HoldfastError) -> tuple[dict[str, str | float], ...]:
    """Return the details that the next attempt or the workflow reads."""
    if isinstance(error, WorkTimeOver):
        return ({"worked_s": error.worked_s},)
    if isinstance(error, StorageAway) and error.since is not None:
        return ({"since": error.since.isoformat()},)
    return ()
