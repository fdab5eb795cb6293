"""Keep the times of schedules in Temporal: create, pause, run now, delete, and read the next run.

Temporal knows of a schedule only its id and its times. What is asked, and whether the schedule
still runs, is read from PostgreSQL when a run is due.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from holdfast.models.errors import ServiceDown
from holdfast.models.schedules.overlap_policy import OverlapPolicy
from holdfast.models.schedules.schedule import Schedule, ScheduleStatus
from holdfast.models.schedules.schedule_orders import ScheduleOrder
from holdfast.models.schedules.schedule_times import parse_times

if TYPE_CHECKING:
    from temporalio.client import Client, ScheduleOverlapPolicy, ScheduleSpec
    from temporalio.service import RPCError

RUN_WORKFLOW = "scheduled_run"
"""The type of the workflow of one run."""
_WORKFLOW_TASK_TIMEOUT = timedelta(seconds=3)
_SHORTEST_CATCH_UP = timedelta(seconds=10)
"""Temporal takes nothing shorter."""


async def create_temporal_schedule(
    temporal: "Client",
    task_queue: str,
    schedule: Schedule,
    *,
    missed: tuple[datetime, datetime] | None = None,
) -> bool:
    """Create the schedule in Temporal; return whether it was missing there.

    `missed` is a period whose runs are made up for.

    Raises:
        ServiceDown: Temporal does not answer, or refused.
    """
    from temporalio.client import (
        Schedule as TemporalSchedule,
    )
    from temporalio.client import (
        ScheduleActionStartWorkflow,
        ScheduleAlreadyRunningError,
        ScheduleBackfill,
        SchedulePolicy,
        ScheduleState,
    )
    from temporalio.service import RPCError

    overlap = _overlap(schedule.terms.overlap)
    action = ScheduleActionStartWorkflow(
        RUN_WORKFLOW,
        ScheduleOrder(schedule_id=schedule.id),
        id=schedule.id,
        task_queue=task_queue,
        task_timeout=_WORKFLOW_TASK_TIMEOUT,
        static_summary=schedule.terms.times,
    )
    made = TemporalSchedule(
        action=action,
        spec=_spec(schedule),
        policy=SchedulePolicy(
            overlap=overlap,
            catchup_window=max(schedule.terms.catch_up, _SHORTEST_CATCH_UP),
        ),
        state=ScheduleState(paused=schedule.status is ScheduleStatus.PAUSED),
    )
    backfill = [ScheduleBackfill(*missed, overlap=overlap)] if missed else ()
    try:
        await temporal.create_schedule(schedule.id, made, backfill=backfill)
    except ScheduleAlreadyRunningError:
        return False
    except RPCError as error:
        raise _no_answer(schedule.id, error) from error
    return True


async def pause_temporal_schedule(temporal: "Client", schedule_id: str, *, is_paused: bool) -> None:
    """Pause the schedule in Temporal, or let it run again.

    A schedule that Temporal has lost is created by a worker, in the state that PostgreSQL has.

    Raises:
        ServiceDown: Temporal does not answer.
    """
    handle = temporal.get_schedule_handle(schedule_id)
    with _passing_over_lost(schedule_id):
        await (handle.pause() if is_paused else handle.unpause())


async def trigger_temporal_schedule(temporal: "Client", schedule: Schedule) -> None:
    """Have the schedule run now, under its overlap policy.

    Raises:
        ServiceDown: Temporal does not answer, or has lost the schedule.
    """
    from temporalio.service import RPCError

    try:
        await temporal.get_schedule_handle(schedule.id).trigger(
            overlap=_overlap(schedule.terms.overlap)
        )
    except RPCError as error:
        raise _no_answer(schedule.id, error) from error


async def delete_temporal_schedule(temporal: "Client", schedule_id: str) -> None:
    """Delete the schedule in Temporal, if it is there.

    Raises:
        ServiceDown: Temporal does not answer.
    """
    with _passing_over_lost(schedule_id):
        await temporal.get_schedule_handle(schedule_id).delete()


async def is_paused_in_temporal(temporal: "Client", schedule_id: str) -> bool | None:
    """Return whether Temporal has paused the schedule; None if Temporal has no such schedule.

    Raises:
        ServiceDown: Temporal does not answer.
    """
    with _passing_over_lost(schedule_id):
        described = await temporal.get_schedule_handle(schedule_id).describe()
        return described.schedule.state.paused
    return None


async def next_run_time(temporal: "Client", schedule_id: str) -> datetime | None:
    """Return when the schedule runs next; None if Temporal does not know."""
    from temporalio.service import RPCError

    try:
        described = await temporal.get_schedule_handle(schedule_id).describe()
    except RPCError:
        return None
    return next(iter(described.info.next_action_times), None)


def _spec(schedule: Schedule) -> "ScheduleSpec":
    from temporalio.client import (
        ScheduleCalendarSpec,
        ScheduleIntervalSpec,
        ScheduleRange,
        ScheduleSpec,
    )

    times, zone = parse_times(schedule.terms.times), schedule.terms.time_zone
    if times.every is not None:
        # Counted from the creation; by itself Temporal counts from 1970.
        since_1970 = timedelta(seconds=int(schedule.created_at.timestamp()))
        interval = ScheduleIntervalSpec(every=times.every, offset=since_1970 % times.every)
        return ScheduleSpec(intervals=[interval], time_zone_name=zone)
    calendar = ScheduleCalendarSpec(
        hour=[ScheduleRange(times.hour)],
        minute=[ScheduleRange(times.minute)],
        second=[ScheduleRange(0)],
        day_of_month=[ScheduleRange(times.day)] if times.day else [ScheduleRange(1, 31)],
        day_of_week=[ScheduleRange(day) for day in times.weekdays] or [ScheduleRange(0, 6)],
    )
    return ScheduleSpec(calendars=[calendar], time_zone_name=zone)


def _overlap(policy: OverlapPolicy) -> "ScheduleOverlapPolicy":
    from temporalio.client import ScheduleOverlapPolicy

    return {
        OverlapPolicy.SKIP: ScheduleOverlapPolicy.SKIP,
        OverlapPolicy.WAIT: ScheduleOverlapPolicy.BUFFER_ONE,
        OverlapPolicy.PARALLEL: ScheduleOverlapPolicy.ALLOW_ALL,
    }[policy]


@contextmanager
def _passing_over_lost(schedule_id: str) -> Iterator[None]:
    """End the block where Temporal does not have the schedule.

    Raises:
        ServiceDown: Temporal does not answer.
    """
    from temporalio.service import RPCError, RPCStatusCode

    try:
        yield
    except RPCError as error:
        if error.status is not RPCStatusCode.NOT_FOUND:
            raise _no_answer(schedule_id, error) from error


def _no_answer(schedule_id: str, error: "RPCError") -> ServiceDown:
    return ServiceDown(f"Temporal does not answer about {schedule_id}: {error.message}")
