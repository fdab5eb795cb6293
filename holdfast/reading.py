"""What people read of their jobs, whether they ask on the command line or over HTTP."""

from holdfast.client import Holdfast
from models.errors import BadInput, NotFound
from models.evidence import Report
from models.jobs import FINAL, Job, JobStatus
from models.plan import Plan
from models.views import JobLine
from planning.presets import preset as known_preset
from storage import jobs, plans
from storage.evidence import load_report


async def newest_jobs(
    holdfast: Holdfast, limit: int, status: str | None, preset: str | None
) -> list[JobLine]:
    """The newest jobs first, of this status and preset where one is given.

    Raises:
        BadInput: there is no such status.
        NotFound: there is no such preset.
    """
    check_kinds(status, preset)
    return await holdfast.lines(limit, status, preset)


def check_kinds(status: str | None, preset: str | None) -> None:
    """Before anything is asked for by them.

    Raises:
        BadInput: there is no such status.
        NotFound: there is no such preset.
    """
    if status and status not in {each.value for each in JobStatus}:
        raise BadInput(
            f"no status {status!r}; statuses: {', '.join(each.value for each in JobStatus)}"
        )
    if preset:
        known_preset(preset)


async def plan_of(holdfast: Holdfast, job_id: str) -> Plan:
    """The job's plan as it stands; empty while there is none.

    Raises:
        NotFound: there is no such job.
    """
    await jobs.load(holdfast.db, job_id)
    return await plans.load_plan(holdfast.db, job_id)


async def report_of(holdfast: Holdfast, job_id: str) -> Report:
    """The report that was delivered.

    Raises:
        NotFound: there is no such job, or no report of it; the message says why.
    """
    job = await jobs.load(holdfast.db, job_id)
    report = await load_report(holdfast.db, job_id)
    if report is None:
        raise NotFound(_no_report(job))
    return report


def _no_report(job: Job) -> str:
    if job.status not in FINAL:
        return (
            f"job {job.id!r} is {job.status.value}, its report is not written yet; wait for it "
            f"with `holdfast wait {job.id}`"
        )
    reason = job.stop_reason.value if job.stop_reason else job.status.value
    return f"job {job.id!r} delivered no report ({reason}): {job.message}"
