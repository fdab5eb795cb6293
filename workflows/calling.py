"""How the workflow calls activities: ids, labels, time limits and retries, in one place."""

from datetime import timedelta

from temporalio.common import Priority, RetryPolicy
from temporalio.workflow import ActivityCancellationType, ActivityConfig

from models.strategy import Strategy

HEARTBEAT = timedelta(seconds=5)
"""Every activity beats, so a killed worker's work is picked up within seconds."""

RETRIES = RetryPolicy(
    initial_interval=timedelta(seconds=1),
    backoff_coefficient=2.0,
    maximum_interval=timedelta(seconds=60),
    # Bound by time and by the kind of error, not by a count that kills and deploys use up.
    maximum_attempts=0,
    # The SDK calls an oversize result retryable; it would be paid for again each time.
    non_retryable_error_types=["PayloadsTooLarge"],
)


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
