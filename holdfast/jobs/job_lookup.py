"""Look up jobs, plans and reports, with errors that say why a report is missing."""

from holdfast.client import Holdfast
from holdfast.configuration.price_settings import read_prices
from holdfast.jobs.job_filter_check import check_job_filters
from holdfast.jobs.record_in_words import ending_words
from holdfast.models.error_fields import error_field
from holdfast.models.errors import BadInput, NotFound
from holdfast.models.evidence.evidence import Report
from holdfast.models.jobs.job_filter import JobFilter
from holdfast.models.jobs.job_record import Job, StopReason
from holdfast.models.plans.research_plan import Plan, TaskStatus
from holdfast.models.views.job_views import JobLine
from holdfast.storage.core.database import Database
from holdfast.storage.evidence.evidence_rows import load_report
from holdfast.storage.jobs import job_rows
from holdfast.storage.plans import task_queries
from holdfast.storage.views.job_stage_queries import load_job_stages

_MAX_LISTED = 5


async def find_job_id(db: Database, prefix: str) -> str:
    """The id of the one job whose id begins with the prefix.

    Raises:
        NotFound: no job's id begins so.
        BadInput: several do; the message lists them.
    """
    ids = await job_rows.job_ids_with_prefix(db, prefix, _MAX_LISTED + 1) if prefix else []
    if not ids:
        raise NotFound(f"there is no job {prefix!r}; `holdfast list` lists the jobs")
    if len(ids) > 1:
        more = " and more" if len(ids) > _MAX_LISTED else ""
        listed = ", ".join(ids[:_MAX_LISTED])
        raise BadInput(f"several jobs begin with {prefix!r}: {listed}{more}; give more of the id")
    return ids[0]


async def newest_jobs(holdfast: Holdfast, which: JobFilter) -> list[JobLine]:
    """The jobs of the filter, the newest first.

    Raises:
        BadInput: there is no such status.
        NotFound: there is no such preset, or no job `which.after`.
    """
    check_job_filters(which.status, which.preset)
    with error_field("after"):
        return await holdfast.list_jobs(which)


async def plan_of(holdfast: Holdfast, job_id: str) -> Plan:
    """The job's current plan; empty before planning.

    Raises:
        NotFound: there is no such job.
    """
    await job_rows.load_job(holdfast.db, job_id)
    return await task_queries.load_plan(holdfast.db, job_id)


async def plan_revision_of(holdfast: Holdfast, job_id: str) -> int:
    """The number of the plan's last change; 0 before planning.

    Raises:
        NotFound: there is no such job.
    """
    return await job_rows.load_plan_revision(holdfast.db, job_id)


async def report_of(holdfast: Holdfast, job_id: str) -> Report:
    """The delivered report.

    Raises:
        NotFound: there is no such job, or no report of it; the message says why.
    """
    job = await job_rows.load_job(holdfast.db, job_id)
    report = await load_report(holdfast.db, job_id)
    if report is None:
        tasks = await task_queries.load_tasks(holdfast.db, job_id)
        has_findings = any(each.task.status is TaskStatus.DONE for each in tasks)
        raise NotFound(_missing_report_message(job, has_findings=has_findings), is_named=False)
    currency = read_prices(holdfast.settings.config_file).currency
    return report.with_stages(await load_job_stages(holdfast.db, job), currency)


def _missing_report_message(job: Job, *, has_findings: bool) -> str:
    if not job.status.is_final:
        return (
            f"job {job.id!r} is {job.status.value}, its report is not written yet; "
            f"`holdfast wait {job.id}` shows when it has ended"
        )
    reason = ending_words(job.status.value, job.stop_reason)
    message = f": {job.message}" if job.message else ""
    if job.stop_reason is StopReason.PLANNED:
        way_out = f"`holdfast resume {job.id}` runs its plan"
    elif has_findings:
        way_out = f"`holdfast report {job.id} --partial` writes one from what the job found"
    else:
        way_out = f"the job found nothing to report, and `holdfast resume {job.id}` tries again"
    return f"job {job.id!r} delivered no report ({reason}){message}; {way_out}"
