"""Taking evidence of a job back: what had rested on it is named, and the log keeps the reason."""

from models.errors import BadInput
from models.evidence import Report, Retraction
from models.plan import Plan
from planning.resting import owner_of, resting_on
from storage import evidence, jobs, plans, retractions
from storage.database import Database

_LONGEST_REASON = 500


async def retract(
    db: Database, job_id: str, evidence_id: int, *, reason: str, by: str
) -> Retraction:
    """Retract a piece of evidence, and all of the job's that is the same words.

    Nothing is worked again: what rested on it is given back, for a person to decide.

    Raises:
        NotFound: there is no such job, or it has no such evidence.
        BadInput: the reason is empty or too long, or the evidence is not active.
    """
    if not reason.strip() or len(reason) > _LONGEST_REASON:
        raise BadInput(f"--reason needs 1 to {_LONGEST_REASON} characters; say why in a sentence")
    await jobs.load(db, job_id)
    plan = await plans.load_plan(db, job_id)
    report = await evidence.load_report(db, job_id)
    async with db.job(job_id) as write:
        shown = await retractions.retract(write, evidence_id)
        found = _retraction(evidence_id, shown, plan, report, reason)
        write.event(
            evidence.RETRACTED,
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
    after = {name for task_id, _ in shown for name in resting_on(plan, task_id)}
    marks = {c.mark for c in report.citations if c.evidence_id == evidence_id} if report else set()
    sentences = report.sentences if report else ()
    return Retraction(
        evidence_id=evidence_id,
        task=owner_of(plan, shown[0][0]),
        entities=tuple(f"{task_id}.{name}" for task_id, name in shown),
        tasks=tuple(task.id for task in plan.tasks if task.id in after),
        statements=tuple(each.text for each in sentences if marks & set(each.marks)),
        reason=reason,
    )
