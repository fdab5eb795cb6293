"""What every activity gets: a heartbeat, and errors that tell Temporal whether to try again."""

import asyncio
import random
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

from models.errors import HoldfastError, Passing, StorageAway
from models.failures import REMEDIES, Remedy

_TRIES_AT_A_FAULT = 3
_FIRST_BEAT_S = 0.5
"""Short activities never beat; of any other it is soon known who had it."""
_PAUSES_S = (1.0, 60.0)
_PAUSES_WITHOUT_STORAGE_S = (0.5, 5.0)
"""PostgreSQL is ours, and asking it again costs nobody anything: a job goes on soon after it."""

log = structlog.get_logger(__name__)


class Heartbeat(Interceptor):
    """Beats while an activity runs, so that a dead worker is noticed within seconds.

    The beat proves that the process lives, not that the call progresses: start_to_close bounds it.
    It says who beats, when and in which attempt, for whoever takes the activity over.
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
    me, attempt = activity.client().identity, activity.info().attempt
    await asyncio.sleep(min(_FIRST_BEAT_S, every_s))
    while True:
        activity.heartbeat({"worker": me, "attempt": attempt, "at": datetime.now(UTC).isoformat()})
        await asyncio.sleep(every_s)


class TypedErrors(Interceptor):
    """Maps our error tree to Temporal's: Passing is retried after a pause, the rest is not.

    The pause is what the other side asked for; else it doubles with each attempt, up to a minute,
    or up to 5 s where PostgreSQL is away.
    """

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
                raise _translated(error, info.attempt) from None
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
        next_retry_delay=_pause(_PAUSES_S, attempt),
    )


def _translated(error: HoldfastError, attempt: int) -> ApplicationError:
    return ApplicationError(
        str(error)[:2000],
        *_details(error),
        type=type(error).__name__,
        non_retryable=REMEDIES[error.failure_class] is not Remedy.RETRY,
        next_retry_delay=_delay(error, attempt) if isinstance(error, Passing) else None,
    )


def _details(error: HoldfastError) -> tuple[dict[str, str], ...]:
    """What the next attempt is told of this one."""
    if isinstance(error, StorageAway) and error.since is not None:
        return ({"since": error.since.isoformat()},)
    return ()


def _delay(error: Passing, attempt: int) -> timedelta:
    if error.after is not None:
        return error.after
    is_storage = isinstance(error, StorageAway)
    return _pause(_PAUSES_WITHOUT_STORAGE_S if is_storage else _PAUSES_S, attempt)


def _pause(pauses_s: tuple[float, float], attempt: int) -> timedelta:
    """The first pause, doubled with each attempt up to the longest; up to a fifth less by chance.

    By chance, so that what failed together does not come back together.
    """
    first_s, longest_s = pauses_s
    pause_s = min(first_s * 2.0 ** min(attempt - 1, 16), longest_s)
    return timedelta(seconds=pause_s * random.uniform(0.8, 1))  # noqa: S311 - nothing secret
