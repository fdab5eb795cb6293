"""Say, when the job of a schedule ends, what changed since the report of the run before."""

from collections.abc import Mapping

from pydantic import JsonValue

from holdfast.planning.reports.report_changes import report_changes
from holdfast.storage.core.database import Database, JobTransaction
from holdfast.storage.evidence.evidence_rows import load_report
from holdfast.storage.schedules.schedule_run_rows import find_schedule_of_job, store_changes


async def changes_since_last_run(db: Database, tx: JobTransaction) -> Mapping[str, JsonValue]:
    """Return the facts of the job's end that only jobs of schedules have; empty for other jobs.

    The facts go into the event of the end, and from there to webhooks and `--notify`.
    """
    scheduled = await find_schedule_of_job(tx)
    if scheduled is None:
        return {}
    facts: dict[str, JsonValue] = {"schedule": scheduled.schedule_id}
    later = await load_report(db, tx.job_id)
    earlier = await load_report(db, scheduled.compared_job) if scheduled.compared_job else None
    if later is None or earlier is None:
        return facts
    changes = report_changes(earlier, later, earlier.job_id)
    await store_changes(tx, changes)
    return facts | {"changes": changes.model_dump(mode="json")}
