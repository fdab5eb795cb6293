"""Retract a piece of evidence and list the tasks and statements that depend on it."""

from holdfast.models.errors import BadInput
from holdfast.models.evidence.evidence import Report, Retraction
from holdfast.models.plans.research_plan import Plan
from holdfast.models.wire.event_kinds import EventKind
from holdfast.planning.plans.downstream_tasks import downstream_tasks, owning_task
from holdfast.storage.core.database import Database
from holdfast.storage.evidence import evidence_rows, retraction_rows
from holdfast.storage.jobs import job_rows
from holdfast.storage.plans import task_queries

_MAX_REASON_LENGTH = 500


async def retract_job_evidence(
    db: Database, job_id: str, evidence_id: int, *, reason: str, by: str
) -> Retraction:
    """Retract a piece of evidence, and all evidence of the job with the same quote.

    No task runs again: the result lists what depends on the evidence, for a person to decide.

    Raises:
        NotFound: there is no such job, or the job has no such evidence.
        BadInput: the reason is empty or too long, or the evidence is not active.
    """
    if not reason.strip() or len(reason) > _MAX_REASON_LENGTH:
        raise BadInput(
            f"the reason needs 1 to {_MAX_REASON_LENGTH} characters; say why in a sentence"
        )
    await job_rows.load_job(db, job_id)
    plan = await task_queries.load_plan(db, job_id)
    report = await evidence_rows.load_report(db, job_id)
    async with db.job(job_id) as write:
        shown = await retraction_rows.retract_evidence(write, evidence_id)
        found = _retraction(evidence_id, shown, plan, report, reason)
        write.event(
            EventKind.EVIDENCE_RETRACTED,
            found.task,
            evidence=evidence_id,
            by=by,
            reason=reason,
            entities=list(found.entities),
            tasks=list(found.tasks),
            statements=len(found.statements),
        )
    return found


def _retraction(
    evidence_id: int,
    shown: list[tuple[str, str]],
    plan: Plan,
    report: Report | None,
    reason: str,
) -> Retraction:
    after = {name for task_id, _ in shown for name in downstream_tasks(plan, task_id)}
    marks = {c.mark for c in report.citations if c.evidence_id == evidence_id} if report else set()
    sentences = report.sentences if report else ()
    return Retraction(
        evidence_id=evidence_id,
        task=owning_task(plan, shown[0][0]),
        entities=tuple(f"{task_id}.{name}" for task_id, name in shown),
        tasks=tuple(task.id for task in plan.tasks if task.id in after),
        statements=tuple(each.text for each in sentences if marks & set(each.marks)),
        reason=reason,
    )
