"""Say, when the job of a schedule ends, what changed since the report of the run before."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from pydantic import JsonValue

from holdfast.models.schedules.schedule import ReportChanges
from holdfast.planning.reports.report_changes import report_changes
from holdfast.storage.core.database import Database, JobTransaction
from holdfast.storage.evidence.evidence_rows import load_report
from holdfast.storage.schedules.schedule_run_rows import find_schedule_of_job, store_changes


@dataclass(frozen=True)
class ScheduleDigest:
    """What the end of a job says because a schedule asked for it; nothing for other jobs."""

    facts: Mapping[str, JsonValue] = field(default_factory=dict)
    """They go into the event of the end, and from there to webhooks and `--notify`."""
    changes: ReportChanges | None = None

    async def store(self, tx: JobTransaction) -> None:
        """Store the changes with the run of the schedule."""
        if self.changes is not None:
            await store_changes(tx, self.changes)


async def changes_since_last_run(db: Database, job_id: str) -> ScheduleDigest:
    """Return what changed since the run before; called before the transaction of the job's end.

    Within it, each read would take a second connection while the first is held.
    """
    scheduled = await find_schedule_of_job(db, job_id)
    if scheduled is None:
        return ScheduleDigest()
    facts: dict[str, JsonValue] = {"schedule": scheduled.schedule_id}
    later = await load_report(db, job_id)
    earlier = await load_report(db, scheduled.compared_job) if scheduled.compared_job else None
    if later is None or earlier is None:
        return ScheduleDigest(facts)
    changes = report_changes(earlier, later, earlier.job_id)
    return ScheduleDigest(facts | {"changes": changes.model_dump(mode="json")}, changes)
