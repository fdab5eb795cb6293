"""What a report is written from, read from PostgreSQL once: plan, results, evidence, verdicts."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from activities.citing import evidence_items, in_support
from models.evidence import StoredEvidence
from models.jobs import Job
from models.plan import Plan, TaskStatus
from models.report_facts import VerificationSummary
from models.verification import Verification
from planning.gates import GateFacts
from planning.resting import resting_on
from planning.sections import group_of
from roles.synthesiser import OpposedClaims, ResultItem, SynthesiserTask, Verified
from storage import evidence, plans, report_facts, retractions
from storage.database import Database
from storage.plans import StoredTask

Entity = tuple[str, str]
"""A task's id, and the name of what it found."""


@dataclass(frozen=True)
class Material:
    """All that the writer and the gates need to know of a job."""

    job: Job
    tasks: Sequence[StoredTask]
    found: Sequence[StoredEvidence]
    facts: GateFacts
    summary: VerificationSummary | None = None
    retracted: Sequence[Entity] = ()
    """Entities all of whose evidence was retracted."""

    @property
    def plan(self) -> Plan:
        return Plan(tasks=tuple(each.task for each in self.tasks))


async def read_material(db: Database, job: Job, task_id: str) -> Material:
    """The material of a job; the calls of `task_id`, who asks, are not missed in the ledger."""
    tasks = await plans.load_tasks(db, job.id)
    plan = Plan(tasks=tuple(each.task for each in tasks))
    summary = await report_facts.summary_of(db, job.id)
    facts = GateFacts(
        open_questions=await report_facts.open_questions(db, job.id),
        unrecorded=await report_facts.unrecorded_calls(db, job.id, task_id),
        contradictions=report_facts.contradictions_of(summary),
    )
    found = in_support(plan, await evidence.evidence_of(db, job.id))
    retracted = await retractions.left_without(db, job.id)
    return Material(job, tasks, found, facts, summary, retracted)


def task_for(material: Material) -> SynthesiserTask:
    """The synthesiser's task, before anything of it is condensed."""
    plan, summary = material.plan, material.summary
    # Not of the live tasks: a cancelled final task is an answer that was not found.
    concludes = not any(task.is_final and not task.parent for task in plan.tasks)
    return SynthesiserTask(
        question=material.job.request.question,
        answer=None if concludes else material.job.answer,
        concludes=concludes,
        confidence=_confidence(material),
        results=tuple(_results(material)),
        evidence=evidence_items(material.found),
        verification=None if summary is None else _verified(summary),
        contradictions=tuple(
            OpposedClaims(**each.model_dump(exclude={"tasks"}))
            for each in material.facts.contradictions
        ),
        gaps=(*gaps_of(plan), *_unsure(plan, summary), *_unsupported(plan, material.retracted)),
    )


def gaps_of(plan: Plan) -> tuple[str, ...]:
    """What the plan set out to find and did not, in the words of its tasks."""
    tasks = [task for task in plan.tasks if not task.parent]
    failed = [task for task in tasks if task.status is TaskStatus.FAILED]
    # An agent that the job's end found at work is one of them: of it nothing is under way.
    not_done = (TaskStatus.PENDING, TaskStatus.CANCELLED, TaskStatus.RUNNING)
    waiting = [task for task in tasks if task.status in not_done and not task.is_final]
    return tuple(f"{task.id}: {task.description}" for task in (*failed, *waiting))


def _unsure(plan: Plan, summary: VerificationSummary | None) -> Iterable[str]:
    """What verification found to be missing from results that are there."""
    for verdict in () if summary is None else summary.incomplete:
        task = plan.by_id[verdict.task_id]
        if task.status is TaskStatus.DONE:
            missing = f"; missing: {', '.join(verdict.missing)}" if verdict.missing else ""
            yield f"{task.id}: {task.description} ({verdict.status.value}{missing})"


def _unsupported(plan: Plan, retracted: Iterable[Entity]) -> Iterable[str]:
    for task_id, name in retracted:
        after = ", ".join(resting_on(plan, task_id))
        rests = f"; on it rests what was found by {after}" if after else ""
        yield f"{task_id}.{name}: its evidence was retracted{rests}"


def _results(material: Material) -> Iterable[ResultItem]:
    verdicts = {} if material.summary is None else material.summary.by_task
    gone = set(material.retracted)
    for each in material.tasks:
        task = each.task
        if task.parent or task.is_final or task.status is not TaskStatus.DONE:
            continue
        verdict = verdicts.get(task.id)
        yield ResultItem(
            task=task.id,
            question=task.description,
            agent=group_of(task),
            status=verdict.status.value if verdict else task.status.value,
            completeness=verdict.completeness if verdict else None,
            confidence=_sure(each, verdict),
            values={n: v for n, v in task.result.items() if (task.id, n) not in gone},
        )


def _sure(stored: StoredTask, verdict: Verification | None) -> float | None:
    return verdict.confidence if verdict else stored.confidence


def _confidence(material: Material) -> float | None:
    """Of the answer: the verifier's, else the final task's, else the mean of what was found."""
    if material.summary is not None and material.summary.confidence is not None:
        return material.summary.confidence
    done = [each for each in material.tasks if each.task.status is TaskStatus.DONE]
    final = [each for each in done if each.task.is_final and each.confidence is not None]
    known = [each.confidence for each in final or done if each.confidence is not None]
    return round(sum(known) / len(known), 3) if known else None


def _verified(summary: VerificationSummary) -> Verified:
    return Verified(
        rounds=summary.iterations,
        complete=summary.complete,
        total=summary.total,
        confidence=summary.confidence,
        stopped_by=summary.stop,
    )
