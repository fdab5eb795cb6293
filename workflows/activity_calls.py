"""Configure activity calls (id, label, time limits, retries) and explain their failures."""

from datetime import timedelta

from temporalio.common import RetryPolicy
from temporalio.exceptions import ActivityError, ApplicationError
from temporalio.exceptions import TimeoutError as OutOfTime
from temporalio.workflow import ActivityCancellationType, ActivityConfig

from holdfast.models.errors import BudgetReached, QuotaExhausted, WorkTimeOver
from holdfast.models.jobs.job_record import StopReason
from holdfast.models.jobs.job_state import Halt
from holdfast.models.text.message_limits import MessageLimit, cut_message

HEARTBEAT = timedelta(seconds=5)
"""Every activity heartbeats, so another worker takes over within seconds after a kill."""

ATTEMPT_SAFETY_NET = timedelta(days=7)
"""Temporal's limit runs on the wall clock; an attempt ends itself long before by its worked time.

There is no schedule_to_close: it would count the time without a worker as work.
"""

RETRIES = RetryPolicy(
    # An activity of a dead worker is retried at once; errors carry their own delay.
    initial_interval=timedelta(milliseconds=100),
    backoff_coefficient=2.0,
    # An outage may have used up many attempts; the job continues seconds after it.
    maximum_interval=timedelta(seconds=5),
    # Retries end by time and by kind of error: kills and deployments would use up a count.
    maximum_attempts=0,
    # The SDK retries an oversize result, and every retry would be paid for.
    non_retryable_error_types=["PayloadsTooLarge"],
)

PAUSING_ERROR_TYPES = frozenset({QuotaExhausted.__name__, BudgetReached.__name__})


def database_activity_config(activity_id: str, summary: str) -> ActivityConfig:
    """Return the configuration of an activity that only reads and writes PostgreSQL."""
    return ActivityConfig(
        activity_id=activity_id,
        summary=summary,
        start_to_close_timeout=timedelta(minutes=1),
        heartbeat_timeout=HEARTBEAT,
        retry_policy=RETRIES,
    )


def work_activity_config(activity_id: str, summary: str) -> ActivityConfig:
    """Return the configuration of an activity that calls models or tools.

    Its time limits are in its order. It has no priority of Temporal's, which comes before the turns
    of owners: the important tasks of one owner's jobs would come before all tasks of another owner.
    """
    return ActivityConfig(
        activity_id=activity_id,
        summary=summary,
        start_to_close_timeout=ATTEMPT_SAFETY_NET,
        heartbeat_timeout=HEARTBEAT,
        retry_policy=RETRIES,
        cancellation_type=ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    )


def failure_reason(error: ActivityError) -> str:
    """Return in words why an activity failed for good."""
    cause = error.cause
    if isinstance(cause, OutOfTime):
        kind = cause.type.name.lower() if cause.type else "time"
        return f"the activity did not finish in time ({kind.replace('_', ' ')})"
    if isinstance(cause, ApplicationError):
        return str(cause.message)
    return str(cause or error)


def is_work_over(error: ActivityError) -> bool:
    """True if the activity ended because its worked time was over."""
    cause = error.cause
    return isinstance(cause, ApplicationError) and cause.type == WorkTimeOver.__name__


def worked_seconds(error: ActivityError) -> float:
    """Return the worked time of an activity that ended because its time was over; else 0."""
    cause = error.cause
    if isinstance(cause, ApplicationError) and is_work_over(error):
        return float(cause.details[0]["worked_s"])
    return 0.0


def is_pausing_error(error: ActivityError) -> bool:
    """True if a person can remove the cause of the error: the job pauses instead of ending."""
    return isinstance(error.cause, ApplicationError) and error.cause.type in PAUSING_ERROR_TYPES


def is_over_budget(error: ActivityError) -> bool:
    """True if the job's own budget caused the error."""
    cause = error.cause
    return isinstance(cause, ApplicationError) and cause.type == BudgetReached.__name__


def halt_for_error(error: ActivityError, what: str) -> Halt:
    """Return the halt of a job whose activity failed for good."""
    return Halt(
        reason=StopReason.ERROR,
        message=cut_message(f"{what} failed: {failure_reason(error)}", MessageLimit.ENTRY),
    )
