"""Locate an activity of a job in Temporal's workflow history: run, event numbers and outcome."""

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from holdfast.client import Holdfast
from holdfast.models.errors import BadConfiguration, ServiceDown
from holdfast.models.reports.provenance_views import TemporalLocation
from holdfast.storage.jobs.job_import import load_job_import
from holdfast.storage.views import job_queries
from holdfast.temporal.temporal_connection import connect, ui_url

if TYPE_CHECKING:
    from temporalio.client import Client

_CLOCK_SKEW = timedelta(seconds=5)
"""The largest difference between the clocks of PostgreSQL and Temporal."""
_MAX_RUNS = 50
_RAN_ELSEWHERE = "the job was imported: it ran in another Temporal"
_CLOSING_EVENTS = ("completed", "failed", "timed_out", "canceled")


class JobHistories:
    """The histories of one job's runs, each read once."""

    def __init__(self, holdfast: Holdfast, job_id: str) -> None:
        self._holdfast = holdfast
        self._job_id = job_id
        self._runs: list[tuple[str, list[Any]]] | None = None
        self._missing = ""

    async def place(self, activity_id: str, at: datetime | None) -> TemporalLocation:
        """Locate the execution of the activity at the time `at`; without a time, the last one.

        A failed look-up is no error: `missing` has the reason.
        """
        runs = await self._all()
        run_id = await job_queries.load_workflow_run_id(self._holdfast.db, self._job_id)
        found = TemporalLocation(workflow_id=self._job_id, activity_id=activity_id, run_id=run_id)
        candidates = [
            (event, run, events)
            for run, events in runs
            for event in events
            if _activity_id(event) == activity_id
            and (at is None or _time(event) <= at + _CLOCK_SKEW)
        ]
        if not candidates:
            missing = self._missing or (
                _RAN_ELSEWHERE
                if await load_job_import(self._holdfast.db, self._job_id) is not None
                else f"no history that Temporal still has of {self._job_id} has an activity "
                f"{activity_id!r}: it is gone, or belongs to an older run"
            )
            return found.model_copy(update={"missing": missing})
        event, run, events = max(candidates, key=lambda each: _time(each[0]))
        closed = next((each for each in events if _is_closing_event(each, event.event_id)), None)
        known = self._holdfast
        return found.model_copy(
            update={
                "run_id": run,
                "scheduled_event": event.event_id,
                "closed_event": closed.event_id if closed else None,
                "outcome": _closing_outcome(closed) if closed else "",
                "url": ui_url(known.settings, known.endpoints, self._job_id, run),
            }
        )

    async def _all(self) -> list[tuple[str, list[Any]]]:
        if self._runs is None:
            from temporalio.service import RPCError

            self._runs = []
            try:
                temporal = await connect(self._holdfast.settings, self._holdfast.endpoints)
                self._runs = await _histories(temporal, self._job_id)
            except (ServiceDown, BadConfiguration, RPCError) as error:
                self._missing = f"Temporal could not be asked: {error}"
        return self._runs


async def _histories(temporal: "Client", job_id: str) -> list[tuple[str, list[Any]]]:
    """Return the events of each run that the server still has, newest run first."""
    from temporalio.service import RPCError, RPCStatusCode

    runs = []
    query = f"WorkflowId = '{job_id.replace(chr(39), '')}'"
    async for run in temporal.list_workflows(query, limit=_MAX_RUNS):
        handle = temporal.get_workflow_handle(job_id, run_id=run.run_id)
        try:
            runs.append((run.run_id, [event async for event in handle.fetch_history_events()]))
        except RPCError as error:
            if error.status is not RPCStatusCode.NOT_FOUND:
                raise
    return runs


def _activity_id(event: Any) -> str:  # noqa: ANN401 - a protobuf message
    if not event.HasField("activity_task_scheduled_event_attributes"):
        return ""
    return str(event.activity_task_scheduled_event_attributes.activity_id)


def _is_closing_event(event: Any, scheduled: int) -> bool:  # noqa: ANN401 - a protobuf message
    how = _closing_outcome(event)
    if not how:
        return False
    attributes = getattr(event, f"activity_task_{how}_event_attributes")
    return bool(attributes.scheduled_event_id == scheduled)


def _closing_outcome(event: Any) -> str:  # noqa: ANN401 - a protobuf message
    """Return the outcome if the event closes an activity, else an empty text."""
    names = (
        name for name in _CLOSING_EVENTS if event.HasField(f"activity_task_{name}_event_attributes")
    )
    return next(names, "")


def _time(event: Any) -> datetime:  # noqa: ANN401 - a protobuf message
    moment: datetime = event.event_time.ToDatetime(tzinfo=UTC)
    return moment
