"""Build the view of a job and its line in a list from the job's records."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal

from holdfast.models.budget.cost_estimates import EstimateComparison
from holdfast.models.budget.job_stages import Stage
from holdfast.models.budget.spend_breakdown import Spend
from holdfast.models.jobs.idle_span import IdleSpan, open_seconds
from holdfast.models.jobs.job_record import Job
from holdfast.models.jobs.job_recovery import Recovery
from holdfast.models.plans.stored_plan_change import StoredPlanChange
from holdfast.models.tasks.stored_task import StoredTask
from holdfast.models.views.job_views import JobLine, JobView, TaskView, TemporalView
from holdfast.planning.budget.estimate_comparison import compare_with_estimate
from holdfast.storage.jobs.job_estimates import StoredEstimate
from holdfast.storage.views.answer_queries import AnswerState
from holdfast.storage.views.job_queries import JobSpending


@dataclass(frozen=True)
class JobRecords:
    """What PostgreSQL stores about one job."""

    job: Job
    answer_state: AnswerState
    tasks: Sequence[StoredTask]
    spending: JobSpending
    stages: Sequence[Stage]
    plan_changes: Sequence[StoredPlanChange]
    estimate: StoredEstimate | None
    recoveries: Sequence[Recovery]
    forks: Sequence[str]
    idle: Sequence[IdleSpan] = ()


def job_view(records: JobRecords, temporal: TemporalView, currency: str) -> JobView:
    """The job with its tasks and its spending."""
    job, spending = records.job, records.spending
    by_task = spending.by_task
    return JobView(
        job_id=job.id,
        question=job.request.question,
        preset=job.request.preset,
        model=job.request.model,
        status=job.status.value,
        stop_reason=job.stop_reason.value if job.stop_reason else None,
        message=job.message,
        answer=job.answer,
        confidence=records.answer_state.confidence,
        open_questions=records.answer_state.open_questions,
        tasks=tuple(_task_view(task, by_task) for task in records.tasks),
        replans=sum(change.cause == "replanned" for change in records.plan_changes),
        plan_changes=len(records.plan_changes),
        depth=job.depth,
        breadth=job.breadth,
        tokens=spending.tokens,
        cost=spending.spent.total.cost,
        currency=currency,
        spent=spending.spent,
        stages=tuple(records.stages),
        estimate=_comparison(records),
        calls=spending.calls,
        repeated_calls=spending.repeated_calls,
        reused_calls=spending.reused_calls,
        recoveries=tuple(records.recoveries),
        config_hash=job.config_hash,
        created_at=job.created_at,
        seconds=_seconds_since(job.created_at, job, records.idle),
        follows=job.request.followed_job,
        forked_from=(job.request.fork.job or None) if job.request.fork else None,
        forks=tuple(records.forks),
        temporal=temporal,
    )


def job_line(job: Job, state: AnswerState, idle: Sequence[IdleSpan] = ()) -> JobLine:
    """The job's line in a list of jobs."""
    return JobLine(
        job_id=job.id,
        question=job.request.question,
        preset=job.request.preset,
        model=job.request.model,
        status=job.status.value,
        stop_reason=job.stop_reason.value if job.stop_reason else None,
        answer=job.answer,
        confidence=state.confidence,
        open_questions=state.open_questions,
        created_at=job.created_at,
        seconds=_seconds_since(job.created_at, job, idle),
    )


def _comparison(records: JobRecords) -> EstimateComparison | None:
    stored, spending = records.estimate, records.spending
    if stored is None:
        return None
    return compare_with_estimate(
        stored.estimate,
        spending.spent,
        tool_calls=spending.calls.tool,
        seconds=_seconds_since(stored.at, records.job, records.idle),
    )


def _task_view(stored: StoredTask, spending: Mapping[str, Spend]) -> TaskView:
    task = stored.task
    spend = spending.get(task.id, Spend(name=task.id, calls=0, cost=Decimal(0)))
    return TaskView(
        id=task.id,
        kind=task.kind.value,
        description=task.description,
        tool=task.tool,
        agent=task.agent,
        parent=task.parent,
        status=task.status.value,
        depends_on=task.depends_on,
        priority=task.priority,
        attempt=stored.attempt,
        root=stored.root,
        confidence=stored.confidence,
        entities=dict(task.result),
        failure=stored.failure.model_dump(mode="json") if stored.failure else None,
        seconds=_elapsed_seconds(stored.started_at, stored.finished_at),
        tokens=spend.tokens,
        cost=spend.cost,
    )


def _seconds_since(begin: datetime, job: Job, idle: Sequence[IdleSpan]) -> float | None:
    """Until the job's end, or until now, without the time in which it had ended."""
    end = job.finished_at if job.status.is_final else datetime.now(UTC)
    return round(open_seconds(begin, end, idle), 3) if end else None


def _elapsed_seconds(start: datetime | None, end: datetime | None) -> float | None:
    return round((end - start).total_seconds(), 3) if start and end else None
