"""Read the inputs of a report: the plan, the results, the evidence and the verdicts."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from holdfast.models.evidence.evidence import StoredEvidence
from holdfast.models.jobs.job_record import Job
from holdfast.models.loop.loop_results import LoopResult
from holdfast.models.plans.research_plan import Plan, TaskStatus
from holdfast.models.reports.report_writer_messages import (
    OpposedClaims,
    ResultItem,
    SynthesiserTask,
    VerificationResult,
)
from holdfast.models.reports.verification_summary import VerificationSummary
from holdfast.models.tasks.stored_task import StoredTask, plan_of
from holdfast.models.text.report_marks import without_marks
from holdfast.models.verification.verification_verdicts import Verification
from holdfast.planning.plans.downstream_tasks import downstream_tasks
from holdfast.planning.reports.answer_confidence import answer_confidence, result_reliability
from holdfast.planning.reports.delivery_checks import DeliveryFacts
from holdfast.planning.reports.evidence_selection import evidence_items, supporting_evidence
from holdfast.planning.reports.report_gaps import incomplete_gap, retracted_gap, unfinished_gap
from holdfast.planning.reports.report_groups import group_of
from holdfast.planning.verification.contradiction_rules import distinct_contradictions
from holdfast.storage.core.database import Database
from holdfast.storage.evidence import evidence_rows, retraction_rows
from holdfast.storage.plans import loop_result_rows, task_queries
from holdfast.storage.views import report_input_queries

EntityKey = tuple[str, str]
"""The key of an entity: its task's id and its name."""


@dataclass(frozen=True)
class ReportInputs:
    """The inputs of the report writer and of the delivery checks."""

    job: Job
    tasks: Sequence[StoredTask]
    found: Sequence[StoredEvidence]
    facts: DeliveryFacts
    summary: VerificationSummary | None = None
    retracted: Sequence[EntityKey] = ()
    """Entities whose evidence is all retracted."""
    loops: Mapping[str, LoopResult] = field(default_factory=dict)
    """What the agents that work as loops proved and left open, by task."""

    @property
    def plan(self) -> Plan:
        return plan_of(self.tasks)

    @property
    def verdicts(self) -> Mapping[str, Verification]:
        """The last verdict on each result, by task."""
        return {} if self.summary is None else self.summary.by_task


async def read_report_inputs(db: Database, job: Job, task_id: str) -> ReportInputs:
    """Read the inputs; calls of `task_id`, the report itself, do not count as unrecorded."""
    tasks = await task_queries.load_tasks(db, job.id)
    plan = plan_of(tasks)
    summary = await report_input_queries.verification_summary_of(db, job.id)
    facts = DeliveryFacts(
        open_questions=await report_input_queries.open_question_numbers(db, job.id),
        calls_without_outcome=await report_input_queries.unrecorded_calls(db, job.id, task_id),
        contradictions=distinct_contradictions(summary.verdicts) if summary else (),
    )
    found = supporting_evidence(plan, await evidence_rows.evidence_of(db, job.id))
    retracted = await retraction_rows.entities_without_evidence(db, job.id)
    loops = await loop_result_rows.load_loop_results(db, job.id)
    return ReportInputs(job, tasks, found, facts, summary, retracted, loops)


def synthesiser_task(material: ReportInputs) -> SynthesiserTask:
    """Return the synthesiser's task, before groups are condensed."""
    plan, summary = material.plan, material.summary
    # Of all tasks: a cancelled final task means that no answer was found.
    concludes = not any(task.is_final and not task.parent for task in plan.tasks)
    return SynthesiserTask(
        question=material.job.request.question_in_context,
        answer=None if concludes else material.job.answer,
        concludes=concludes,
        confidence=answer_confidence(material.tasks, material.verdicts),
        results=tuple(_result_items(material)),
        evidence=evidence_items(material.found, material.loops.values()),
        verification=None if summary is None else _verification_figures(summary),
        contradictions=tuple(
            OpposedClaims(**each.model_dump(exclude={"tasks"}))
            for each in material.facts.contradictions
        ),
        gaps=(
            *unfinished_task_gaps(material.tasks),
            *_incomplete_result_gaps(plan, summary),
            *_open_gaps(material),
            *_retracted_evidence_gaps(plan, material.retracted),
        ),
    )


def unfinished_task_gaps(stored: Sequence[StoredTask]) -> tuple[str, ...]:
    """Return a gap for each task of the plan without a result."""
    tasks = plan_of(stored).reported_tasks
    failures = {each.task.id: each.failure for each in stored}
    failed = [task for task in tasks if task.status is TaskStatus.FAILED]
    # An agent task that still ran when the job ended counts as unfinished.
    waiting = [
        task
        for task in tasks
        if (task.status.is_open or task.status is TaskStatus.CANCELLED) and not task.is_final
    ]
    gaps = (unfinished_gap(task, failures[task.id]) for task in (*failed, *waiting))
    return tuple(dict.fromkeys(gaps))


def _incomplete_result_gaps(plan: Plan, summary: VerificationSummary | None) -> Iterable[str]:
    """Return a gap for each missing aspect of an existing result."""
    for verdict in () if summary is None else summary.incomplete:
        task = plan.by_id[verdict.task_id]
        if task.status is TaskStatus.DONE:
            yield incomplete_gap(task, verdict)


def _open_gaps(material: ReportInputs) -> Iterable[str]:
    """Return what loops left open that kept their promises; a verdict on a result says more."""
    incomplete = () if material.summary is None else material.summary.incomplete
    judged = {verdict.task_id for verdict in incomplete}
    for task in material.plan.live:
        if task.status is TaskStatus.DONE and not task.is_opening and task.id not in judged:
            loop = material.loops.get(task.id)
            yield from () if loop is None else (without_marks(line) for line in loop.open)


def _retracted_evidence_gaps(plan: Plan, retracted: Iterable[EntityKey]) -> Iterable[str]:
    for task_id in dict.fromkeys(task_id for task_id, _ in retracted):
        dependents = (plan.by_id[name] for name in downstream_tasks(plan, task_id))
        yield retracted_gap(plan.by_id[task_id], dependents)


def _result_items(material: ReportInputs) -> Iterable[ResultItem]:
    gone = set(material.retracted)
    for each in material.tasks:
        task = each.task
        if task.parent or task.is_final or task.status is not TaskStatus.DONE:
            continue
        if task.is_opening and not task.result:
            continue  # the loop that left everything to the plan
        verdict = material.verdicts.get(task.id)
        yield ResultItem(
            task=task.id,
            question=task.description,
            agent=group_of(task),
            status=verdict.status.value if verdict else task.status.value,
            completeness=verdict.completeness if verdict else None,
            confidence=result_reliability(each, verdict),
            values={n: v for n, v in task.result.items() if (task.id, n) not in gone},
        )


def _verification_figures(summary: VerificationSummary) -> VerificationResult:
    return VerificationResult(
        rounds=summary.rounds,
        complete=summary.complete,
        total=summary.total,
        confidence=summary.confidence,
        stopped_by=summary.stop,
    )
