"""Read the Temporal histories of all runs of a job, and how long a replay took."""

from dataclasses import dataclass
from datetime import timedelta

from temporalio.api.enums.v1 import EventType
from temporalio.api.history.v1 import HistoryEvent
from temporalio.client import Client

_STARTED = EventType.EVENT_TYPE_WORKFLOW_TASK_STARTED
_COMPLETED = EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED


@dataclass(frozen=True)
class JobHistory:
    """The histories of a job's runs, the oldest first."""

    runs: tuple[tuple[HistoryEvent, ...], ...]
    size_bytes: int

    @property
    def events(self) -> int:
        return sum(len(run) for run in self.runs)

    @property
    def replay_s(self) -> float:
        """How long the first workflow task of the second worker took; the kill was before it.

        Raises:
            LookupError: all was done by one worker.
        """
        first = None
        for run in self.runs:
            for event in run:
                if event.event_type != _STARTED:
                    continue
                identity = event.workflow_task_started_event_attributes.identity
                first = first or identity
                if identity != first:
                    return _took_s(run, event)
        raise LookupError("no second worker has worked on this job")


async def load_history(client: Client, job_id: str) -> JobHistory:
    """All that is there, followed back from the last run."""
    runs: list[tuple[HistoryEvent, ...]] = []
    size, run_id = 0, None
    while run_id != "":
        handle = client.get_workflow_handle(job_id, run_id=run_id)
        description = await handle.describe()
        size += description.raw_description.workflow_execution_info.history_size_bytes
        events = tuple([event async for event in handle.fetch_history_events()])
        runs.insert(0, events)
        run_id = events[0].workflow_execution_started_event_attributes.continued_execution_run_id
    return JobHistory(tuple(runs), size)


def _took_s(run: tuple[HistoryEvent, ...], started: HistoryEvent) -> float:
    for event in run:
        if event.event_type != _COMPLETED:
            continue
        if event.workflow_task_completed_event_attributes.started_event_id == started.event_id:
            took = event.event_time.ToDatetime() - started.event_time.ToDatetime()
            return took / timedelta(seconds=1)
    raise LookupError(f"the workflow task of event {started.event_id} was not completed")
