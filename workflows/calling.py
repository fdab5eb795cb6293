"""How the workflow calls activities: ids, labels, time limits and retries, in one place."""

from datetime import timedelta

from temporalio.common import Priority, RetryPolicy
from temporalio.exceptions import ActivityError, ApplicationError
from temporalio.exceptions import TimeoutError as OutOfTime
from temporalio.workflow import ActivityCancellationType, ActivityConfig

from models.errors import BudgetReached, QuotaExhausted
from models.jobs import StopReason
from models.state import Halt
from models.strategy import Strategy

HEARTBEAT = timedelta(seconds=5)
"""Every activity beats, so a killed worker's work is picked up within seconds."""

RETRIES = RetryPolicy(
    # What a dead worker had begun is tried again at once; errors bring their own delay along.
    initial_interval=timedelta(milliseconds=100),
    backoff_coefficient=2.0,
    maximum_interval=timedelta(seconds=60),
    # Bound by time and by the kind of error, not by a count that kills and deploys use up.
    maximum_attempts=0,
    # The SDK calls an oversize result retryable; it would be paid for again each time.
    non_retryable_error_types=["PayloadsTooLarge"],
)

SUSPENDING = frozenset({QuotaExhausted.__name__, BudgetReached.__name__})


def bookkeeping(activity_id: str, summary: str) -> ActivityConfig:
    """For activities that only read and write PostgreSQL."""
    return ActivityConfig(
        activity_id=activity_id,
        summary=summary,
        start_to_close_timeout=timedelta(minutes=1),
        schedule_to_close_timeout=timedelta(hours=24),
        heartbeat_timeout=HEARTBEAT,
        retry_policy=RETRIES,
    )


def working(
    activity_id: str, summary: str, strategy: Strategy, priority: int = 5
) -> ActivityConfig:
    """For activities that call models and tools; `priority` 10 goes first (Temporal's 1)."""
    return ActivityConfig(
        activity_id=activity_id,
        summary=summary,
        start_to_close_timeout=strategy.task_timeout,
        schedule_to_close_timeout=strategy.task_patience,
        heartbeat_timeout=HEARTBEAT,
        retry_policy=RETRIES,
        cancellation_type=ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
        priority=Priority(priority_key=max(1, min(5, 6 - (priority + 1) // 2))),
    )


def reason_of(error: ActivityError) -> str:
    """Why Temporal gave an activity up, in words."""
    cause = error.cause
    if isinstance(cause, OutOfTime):
        kind = cause.type.name.lower() if cause.type else "time"
        return f"it did not finish in time ({kind.replace('_', ' ')})"
    if isinstance(cause, ApplicationError):
        return str(cause.message)
    return str(cause or error)


def suspends(error: ActivityError) -> bool:
    """Whether a person can make possible what failed: the job is paused and not ended."""
    return isinstance(error.cause, ApplicationError) and error.cause.type in SUSPENDING


def is_over_budget(error: ActivityError) -> bool:
    """Whether it was the job's own cap that was in the way."""
    cause = error.cause
    return isinstance(cause, ApplicationError) and cause.type == BudgetReached.__name__


def halt_of(error: ActivityError, what: str) -> Halt:
    """The end of a job for which something was given up."""
    return Halt(reason=StopReason.ERROR, message=f"{what} failed: {reason_of(error)}"[:2000])
