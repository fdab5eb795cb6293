"""The status document: PostgreSQL says where the job stands, Temporal who works on what until when.

Looking writes nothing, and what is not known because a service is away is said to be so.
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from holdfast.asked import asked_of
from holdfast.client import Holdfast
from holdfast.prices import read_prices
from holdfast.temporal import connect
from models.errors import ServiceDown
from models.jobs import FINAL, Job, JobStatus
from models.plan import TaskKind, TaskStatus
from models.questions import QuestionKind
from models.spending import Spend
from models.state import (
    Action,
    AdvanceNode,
    EndJob,
    FillGaps,
    JobState,
    MakePlan,
    Replan,
    Revise,
    StartTask,
    TaskReceipt,
    TaskState,
    Verify,
    WriteReport,
)
from models.status import Allowance, Doing, StatusDocument, Waiting, Waits
from planning import state as changes
from planning.decide import OF_THE_JOB, decide
from storage import jobs, plans, views
from storage.evidence import load_report

if TYPE_CHECKING:
    from temporalio.client import Client

_POLLS_WITHIN = timedelta(seconds=70)
"""A worker asks for work at least once a minute."""


async def status_of(holdfast: Holdfast, job_id: str) -> StatusDocument:
    """What the job is doing, what blocks it, what happens next and when.

    Raises:
        NotFound: there is no such job.
    """
    job = await jobs.load(holdfast.db, job_id)
    is_over = job.status in FINAL
    doing, blocked = ([], []) if is_over else await _in_temporal(holdfast, job)
    counts = await views.counts(holdfast.db, job_id)
    spent = (await views.spending(holdfast.db, job_id)).spent.total
    currency = read_prices(holdfast.settings.config_file).currency
    states = _begun(await plans.task_states(holdfast.db, job_id, of_new_run=False), doing)
    under_way = sum(t.kind is TaskKind.TOOL and t.status is TaskStatus.RUNNING for t in states)
    counts = counts.model_copy(update={"tool_calls": counts.tool_calls + under_way})
    report = await load_report(holdfast.db, job_id)
    is_paused = job.status is JobStatus.PAUSED
    state = changes.rebuilt(job.request.strategy, counts, states, is_paused=is_paused)
    asked = await asked_of(holdfast.db, job_id)
    return StatusDocument(
        job_id=job_id,
        status=job.status.value,
        message=job.message,
        doing=tuple(doing),
        waiting=() if is_over else _waiting(state),
        blocked_by=(*blocked, *_held_by(asked)),
        questions=asked,
        warnings=() if report is None else report.warnings,
        next=() if is_over else _next(state, {each.what for each in doing}),
        allowances=_allowances(state, spent, currency),
        at=datetime.now(UTC),
    )


def _begun(states: list[TaskState], doing: list[Doing]) -> list[TaskState]:
    """With those as running that a worker has taken and PostgreSQL does not know of yet."""
    taken = {each.what.partition("#")[0] for each in doing}
    running = {"status": TaskStatus.RUNNING}
    return [
        state.model_copy(update=running)
        if state.id in taken and state.status is TaskStatus.PENDING
        else state
        for state in states
    ]


def _waiting(state: JobState) -> tuple[Waiting, ...]:
    pending = (each for each in state.tasks.values() if each.status is TaskStatus.PENDING)
    return tuple(
        Waiting(
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


def _next(state: JobState, under_way: set[str]) -> tuple[str, ...]:
    """What `decide` starts next: now, or once what runs has done what it promised."""
    known = _as_under_way(state, under_way)
    if known.is_paused:
        known = changes.paused(known, is_paused=False)
        prefix = "once resumed: "
    else:
        prefix = ""
    actions = decide(known)
    running = [each.id for each in known.tasks.values() if each.status is TaskStatus.RUNNING]
    if not actions and running:
        for name in running:
            attempt = known.tasks[name].attempt
            done = TaskReceipt(task_id=name, attempt=attempt, status=TaskStatus.DONE)
            known = changes.finished(known, done)
        actions = decide(known)
        prefix += f"after {', '.join(running)}: "
    return tuple(prefix + _in_words(action) for action in actions)


def _as_under_way(state: JobState, under_way: set[str]) -> JobState:
    """With what only Temporal knows to be under way."""
    replanned = [task for name, task in state.tasks.items() if f"replan-{name}" in under_way]
    advancing = {name.partition("#")[0].partition("/")[0] for name in under_way}
    return state.model_copy(
        update={
            "is_planning": "plan" in under_way,
            "is_reporting": "report" in under_way,
            "is_revising": any(name.startswith("revise-") for name in under_way),
            "is_verifying": any(name.startswith(("verify-", "gaps-")) for name in under_way),
            "replanning": {task.parent: task.id for task in replanned},
            "advancing": tuple(
                task.id
                for task in state.tasks.values()
                if task.kind is TaskKind.AGENT and task.id in advancing
            ),
        }
    )


def _in_words(action: Action) -> str:
    match action:
        case StartTask(task_id=task_id):
            return f"start {task_id}"
        case AdvanceNode(task_id=task_id):
            return f"let {task_id} go on"
        case Replan(task_id=task_id):
            return f"replan from {task_id}"
        case Verify(iteration=iteration):
            return f"verify the results, round {iteration}"
        case FillGaps(iteration=iteration):
            return f"fill the gaps of round {iteration}"
        case EndJob(status=status, reason=reason):
            return f"end: {status.value} ({reason.value})"
    return _ONE_OF_A_KIND[type(action)]


_ONE_OF_A_KIND: Mapping[type[Action], str] = {
    MakePlan: "plan the research",
    Revise: "revise what is still to do",
    WriteReport: "write the report",
}


def _allowances(state: JobState, spent: Spend, currency: str) -> tuple[Allowance, ...]:
    strategy = state.strategy
    cost = None if spent.cost is None else float(spent.cost)
    return (
        Allowance(what="tool calls", used=state.tool_calls, limit=strategy.max_tool_calls),
        Allowance(what="replans", used=state.total_replans, limit=strategy.max_replans),
        Allowance(what="tokens", used=spent.tokens, limit=strategy.max_tokens),
        Allowance(what=currency, used=cost, limit=strategy.max_cost),
    )


async def _in_temporal(holdfast: Holdfast, job: Job) -> tuple[list[Doing], list[str]]:
    """What is under way, and what keeps the job from going on."""
    from temporalio.service import RPCError, RPCStatusCode

    blocked = _paused(job)
    try:
        temporal = await connect(holdfast.settings, holdfast.endpoints)
        described = await temporal.get_workflow_handle(job.id).describe()
        if not await _has_workers(temporal, holdfast.settings.task_queue):
            queue = holdfast.settings.task_queue
            blocked.append(f"no worker polls the queue {queue!r}; start one with `holdfast up`")
    except ServiceDown as error:
        return [], [*blocked, str(error)]
    except RPCError as error:
        if error.status is not RPCStatusCode.NOT_FOUND:
            return [], [*blocked, f"Temporal does not answer: {error.message}"]
        return [], [*blocked, _lost(job)]
    if described.close_time is not None:
        blocked.append(_lost(job))
    return [_doing(each) for each in described.raw_description.pending_activities], blocked


def _paused(job: Job) -> list[str]:
    if job.status is not JobStatus.PAUSED:
        return []
    why = f": {job.message}" if job.message else ""
    return [f"the job is paused{why}; go on with `holdfast resume {job.id}`"]


def _held_by(asked: Iterable[Waits]) -> Iterator[str]:
    """Questions that hold the whole job, and not only the task that asks."""
    for each in asked:
        if QuestionKind(each.kind) in OF_THE_JOB:
            yield f"the job waits for an answer; give it with `{each.answer_with}`"


def _lost(job: Job) -> str:
    return f"Temporal works no job {job.id}; go on from PostgreSQL with `holdfast resume {job.id}`"


async def _has_workers(temporal: "Client", task_queue: str) -> bool:
    from temporalio.api.enums.v1 import TaskQueueType
    from temporalio.api.taskqueue.v1 import TaskQueue
    from temporalio.api.workflowservice.v1 import DescribeTaskQueueRequest

    answer = await temporal.workflow_service.describe_task_queue(
        DescribeTaskQueueRequest(
            namespace=temporal.namespace,
            task_queue=TaskQueue(name=task_queue),
            task_queue_type=TaskQueueType.TASK_QUEUE_TYPE_ACTIVITY,
        )
    )
    oldest = datetime.now(UTC) - _POLLS_WITHIN
    return any(each.last_access_time.ToDatetime(tzinfo=UTC) > oldest for each in answer.pollers)


def _doing(pending: Any) -> Doing:  # noqa: ANN401 - Temporal's PendingActivityInfo
    from temporalio.api.enums.v1 import PendingActivityState

    is_running = pending.state == PendingActivityState.PENDING_ACTIVITY_STATE_STARTED
    is_new = pending.attempt <= 1
    return Doing(
        what=pending.activity_id,
        state="running" if is_running else "scheduled" if is_new else "waiting",
        attempt=pending.attempt,
        since=_time(pending, "last_started_time"),
        worker=pending.last_worker_identity,
        last_sign_of_life=_time(pending, "last_heartbeat_time"),
        last_failure=pending.last_failure.message[:500],
        next_try_at=None if is_running else _time(pending, "scheduled_time"),
        gives_up_at=_time(pending, "expiration_time"),
    )


def _time(message: Any, name: str) -> datetime | None:  # noqa: ANN401 - a protobuf message
    if not message.HasField(name):
        return None
    moment: datetime = getattr(message, name).ToDatetime(tzinfo=UTC)
    return moment
