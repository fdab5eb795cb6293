"""Build a job's status document: running work, blockers, next actions and limits.

The document writes nothing; if a service is away, the document says what is therefore missing.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime

from holdfast.client import Holdfast
from holdfast.configuration.price_settings import read_prices
from holdfast.jobs.open_questions import open_questions_of
from holdfast.jobs.record_in_words import way_on_from_pause
from holdfast.models.budget.job_stages import Stage
from holdfast.models.budget.spend_breakdown import Spend
from holdfast.models.errors import ServiceDown
from holdfast.models.evidence.evidence import Report
from holdfast.models.jobs.job_record import Job, JobStatus, StopReason
from holdfast.models.jobs.job_state import JobState, TaskState
from holdfast.models.plans.research_plan import TaskKind, TaskStatus
from holdfast.models.questions.user_questions import QuestionKind
from holdfast.models.views.status_views import (
    LimitUsage,
    PendingActivity,
    StatusDocument,
    WaitingQuestion,
    WaitingTask,
)
from holdfast.models.wire import stored_keys
from holdfast.planning.scheduler.expected_actions import expected_actions
from holdfast.planning.scheduler.next_actions import JOB_QUESTION_KINDS
from holdfast.planning.scheduler.state_transitions import rebuild_state
from holdfast.storage.core.database import Database
from holdfast.storage.evidence.evidence_rows import load_report
from holdfast.storage.jobs import job_rows
from holdfast.storage.plans import plan_change_rows, task_queries
from holdfast.storage.views import job_queries
from holdfast.storage.views.job_stage_queries import job_stages_of
from holdfast.storage.views.open_call_queries import load_open_calls
from holdfast.temporal.workflow_activity import WorkflowActivity, workflow_activity


async def status_of(holdfast: Holdfast, job_id: str) -> StatusDocument:
    """What the job is doing, what blocks it, what happens next and when.

    Raises:
        NotFound: there is no such job.
    """
    async with holdfast.db.shared_reading() as db:
        job = await job_rows.load_job(db, job_id)
        spending = await job_queries.job_spending(db, job_id)
        changes = await plan_change_rows.load_plan_changes(db, job_id)
        stages = await job_stages_of(db, job, spending.bills, changes)
        report = await load_report(db, job_id)
    return await status_of_job(holdfast, job, spending.spent.total, stages, report)


async def status_of_job(
    holdfast: Holdfast, job: Job, spent: Spend, stages: Sequence[Stage], report: Report | None
) -> StatusDocument:
    """The status of a job of which these records were loaded."""
    job_id = job.id
    is_over = job.status.is_final
    activity = WorkflowActivity() if is_over else await _workflow_activity(holdfast, job)
    # Not while Temporal is asked: no connection is held while another service takes its time.
    async with holdfast.db.shared_reading() as db:
        state = await _load_state(db, job, activity.pending)
        questions = await open_questions_of(db, job_id)
        open_calls = () if is_over else await load_open_calls(db, job_id)
    currency = read_prices(holdfast.settings.config_file).currency
    running = {pending.what for pending in activity.pending}
    return StatusDocument(
        job_id=job_id,
        status=job.status.value,
        message=job.message,
        doing=activity.pending,
        waiting=() if is_over else _waiting_tasks(state),
        model_calls=open_calls,
        blocked_by=(*_ways_on(job), *activity.blocked_by, *_blocking_questions(questions)),
        questions=questions,
        warnings=() if report is None else report.warnings,
        next=() if is_over else expected_actions(state, running),
        allowances=_limit_usages(state, spent, currency),
        stages=tuple(stages),
        currency=currency,
        at=datetime.now(UTC),
    )


async def pending_activities(holdfast: Holdfast, job_id: str) -> tuple[PendingActivity, ...]:
    """What Temporal runs of the job now; empty if Temporal does not answer.

    Raises:
        NotFound: there is no such job.
    """
    async with holdfast.db.shared_reading() as db:
        job = await job_rows.load_job(db, job_id)
    return (await _workflow_activity(holdfast, job)).pending


async def _workflow_activity(holdfast: Holdfast, job: Job) -> WorkflowActivity:
    # A connection that was open may have lost a server that answers a new one.
    attempts = 2 if holdfast.has_reading_connection else 1
    reason = ""
    for _ in range(attempts):
        try:
            temporal = await holdfast.reading_connection()
        except ServiceDown as error:
            reason = str(error)
            break
        try:
            return await workflow_activity(temporal, job.id, holdfast.settings.task_queue)
        except ServiceDown as error:
            holdfast.forget_connection(temporal)
            reason = str(error)
    return WorkflowActivity(blocked_by=(reason,))


async def _load_state(db: Database, job: Job, pending: Iterable[PendingActivity]) -> JobState:
    """The job's state in PostgreSQL, with the tasks that Temporal has started since."""
    counts = await job_queries.job_counts(db, job.id)
    # The tasks of a job that has ended change neither what waits nor what was used.
    stored = (
        [] if job.status.is_final else await task_queries.task_states(db, job.id, of_new_run=False)
    )
    tasks = _with_started_tasks(stored, pending)
    running_tools = sum(
        task.kind is TaskKind.TOOL and task.status is TaskStatus.RUNNING for task in tasks
    )
    counts = counts.model_copy(update={"tool_calls": counts.tool_calls + running_tools})
    is_paused = job.status is JobStatus.PAUSED
    return rebuild_state(job.request.strategy, counts, tasks, is_paused=is_paused)


def _with_started_tasks(
    tasks: Iterable[TaskState], pending: Iterable[PendingActivity]
) -> list[TaskState]:
    """The tasks, with those as running that a worker has started and not yet stored."""
    started = {stored_keys.task_of_activity(activity.what) for activity in pending}
    return [
        task.with_status(TaskStatus.RUNNING)
        if task.id in started and task.status is TaskStatus.PENDING
        else task
        for task in tasks
    ]


def _waiting_tasks(state: JobState) -> tuple[WaitingTask, ...]:
    pending = (task for task in state.tasks.values() if task.status is TaskStatus.PENDING)
    return tuple(
        WaitingTask(
            task=task.id,
            what=task.label,
            waits_for=tuple(
                need
                for need in task.depends_on
                if need in state.tasks and state.tasks[need].status is not TaskStatus.DONE
            ),
        )
        for task in pending
    )


def _limit_usages(state: JobState, spend: Spend, currency: str) -> tuple[LimitUsage, ...]:
    strategy = state.strategy
    cost = None if spend.cost is None else float(spend.cost)
    return (
        LimitUsage(what="tool calls", used=state.tool_calls, limit=strategy.max_tool_calls),
        LimitUsage(what="replans", used=state.total_replans, limit=strategy.max_replans),
        LimitUsage(what="tokens", used=spend.tokens, limit=strategy.max_tokens),
        LimitUsage(what=currency, used=cost, limit=strategy.max_cost),
    )


def _ways_on(job: Job) -> Iterator[str]:
    """Say how a job that waits for a person goes on: its stored message names no command."""
    if job.stop_reason is StopReason.PLANNED:
        yield f"the job was only planned; `holdfast resume {job.id}` runs the plan"
    if job.status is not JobStatus.PAUSED:
        return
    reason = f": {job.message}" if job.message else ""
    yield f"the job is paused{reason}; {way_on_from_pause(job.id, job.message)}"


def _blocking_questions(questions: Iterable[WaitingQuestion]) -> Iterator[str]:
    """Questions that block the whole job, and not only the task that asks."""
    for question in questions:
        if QuestionKind(question.kind) in JOB_QUESTION_KINDS:
            yield f"the job waits for an answer; give it with `{question.answer_with}`"
