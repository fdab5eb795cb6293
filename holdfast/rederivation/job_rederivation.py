"""Derive the plan changes, verdicts and delivery checks of an ended job again."""

from holdfast.activities.reports.report_inputs import read_report_inputs
from holdfast.client import Holdfast
from holdfast.models.errors import BadInput
from holdfast.models.jobs.job_record import Job
from holdfast.models.wire import call_places
from holdfast.planning.reports.delivery_checks import report_delivery_checks
from holdfast.rederivation.plan_rederivation import rederive_plan_changes
from holdfast.rederivation.rederived_decisions import (
    DecisionKind,
    Rederivation,
    RederivedDecision,
    compared,
    not_derivable,
)
from holdfast.rederivation.verdict_rederivation import rederive_verdicts
from holdfast.storage.core.database import Database
from holdfast.storage.evidence.evidence_rows import load_report
from holdfast.storage.jobs import job_rows
from holdfast.storage.plans import task_queries


async def rederive_job(holdfast: Holdfast, job_id: str) -> Rederivation:
    """Return each decision of the job with the comparison; no model and no tool is asked.

    Raises:
        NotFound: there is no such job.
        BadInput: the job has not ended.
    """
    db = holdfast.db
    job = await job_rows.load_job(db, job_id)
    if not job.status.is_final:
        raise BadInput(
            f"job {job_id} is {job.status.value}; what it decides can be derived again when it "
            f"has ended; `holdfast wait {job_id}` shows when it has"
        )
    stored = await task_queries.load_tasks(db, job_id)
    return Rederivation(
        job_id=job_id,
        decisions=(
            *await rederive_plan_changes(db, job_id, stored),
            *await rederive_verdicts(db, job),
            *await _delivery_checks(db, job),
        ),
    )


async def _delivery_checks(db: Database, job: Job) -> list[RederivedDecision]:
    """Return each check of the delivered report, over the evidence that is stored now."""
    kind = DecisionKind.DELIVERY_CHECK
    report = await load_report(db, job.id)
    if report is None:
        return []
    if not report.delivery_checks:
        return [not_derivable(kind, "all", "the report is of a release without stored checks")]
    inputs = await read_report_inputs(db, job, call_places.REPORT_LABEL)
    derived = report_delivery_checks(inputs.plan, inputs.facts, report, inputs.found)
    again = {each.name: each for each in derived}
    return [
        compared(
            kind, each.name, each.model_dump(mode="json"), again[each.name].model_dump(mode="json")
        )
        if each.name in again
        else not_derivable(kind, each.name, "this release has no check of that name")
        for each in report.delivery_checks
    ]
