"""What every activity gets: a heartbeat, and errors that tell Temporal whether to try again."""

import asyncio
from typing import Any

import structlog
from temporalio import activity
from temporalio.exceptions import ApplicationError, CancelledError
from temporalio.worker import (
    ActivityInboundInterceptor,
    ExecuteActivityInput,
    Interceptor,
)

from models.errors import HoldfastError, Passing

_TRIES_AT_A_FAULT = 3

log = structlog.get_logger(__name__)


class Heartbeat(Interceptor):
    """Beats while an activity runs, so that a dead worker is noticed within seconds.

    The beat proves that the process lives, not that the call progresses: start_to_close bounds it.
    """

    def intercept_activity(self, next: ActivityInboundInterceptor) -> ActivityInboundInterceptor:  # noqa: A002 - the SDK's name
        return _Beating(super().intercept_activity(next))


class _Beating(ActivityInboundInterceptor):
    async def execute_activity(self, input: ExecuteActivityInput) -> Any:  # noqa: A002, ANN401 - the SDK's signature
        timeout = activity.info().heartbeat_timeout
        if timeout is None:
            return await super().execute_activity(input)
        beating = asyncio.create_task(_beat(timeout.total_seconds() / 3))
        try:
            return await super().execute_activity(input)
        finally:
            beating.cancel()
            await asyncio.gather(beating, return_exceptions=True)


async def _beat(every_s: float) -> None:
    while True:
        await asyncio.sleep(every_s)
        activity.heartbeat()


class TypedErrors(Interceptor):
    """Maps our error tree to Temporal's: Passing is retried, after `after`; Lasting is not."""

    def intercept_activity(self, next: ActivityInboundInterceptor) -> ActivityInboundInterceptor:  # noqa: A002 - the SDK's name
        return _Typed(super().intercept_activity(next))


class _Typed(ActivityInboundInterceptor):
    async def execute_activity(self, input: ExecuteActivityInput) -> Any:  # noqa: A002, ANN401 - the SDK's signature
        info = activity.info()
        where = {"workflow_id": info.workflow_id, "activity_id": info.activity_id}
        with structlog.contextvars.bound_contextvars(**where):
            try:
                return await super().execute_activity(input)
            except HoldfastError as error:
                log.warning(
                    "activity.failed", error=str(error)[:500], kind=type(error).__name__,
                    attempt=info.attempt,
                )  # fmt: skip
                # Not `from error`: Temporal would store its causes, down to SQL with its values.
                raise _translated(error) from None
            except (ApplicationError, CancelledError):
                raise
            except Exception as error:
                # A fault of ours. It is retried in case a deploy mends it, but not for hours.
                log.exception("activity.broke", attempt=info.attempt)
                raise _broken(error, info.attempt) from None


def _broken(error: Exception, attempt: int) -> ApplicationError:
    """Says what kind of fault it was and no more: its text may hold what was worked on."""
    kind = type(error).__name__
    return ApplicationError(
        f"Holdfast failed with {kind}; the worker's log has the details",
        type=kind,
        non_retryable=attempt >= _TRIES_AT_A_FAULT,
    )


def _translated(error: HoldfastError) -> ApplicationError:
    is_passing = isinstance(error, Passing)
    return ApplicationError(
        str(error)[:2000],
        type=type(error).__name__,
        non_retryable=not is_passing,
        next_retry_delay=error.after if isinstance(error, Passing) else None,
    )
