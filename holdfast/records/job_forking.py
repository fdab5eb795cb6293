"""Fork a job: name what a change touches and its price, then run only that in a job of its own."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from pydantic import JsonValue

from holdfast.client import Holdfast
from holdfast.configuration.price_settings import read_prices
from holdfast.corpus.missing_documents import missing_documents_note
from holdfast.jobs.model_checks import check_job_models, checked_model_name, with_role_models
from holdfast.models.budget.spend_breakdown import Bill
from holdfast.models.budget.token_prices import PriceList
from holdfast.models.error_fields import error_field
from holdfast.models.errors import BadInput, PlanMoved
from holdfast.models.jobs.job_fork import Fork, ForkCause
from holdfast.models.jobs.job_record import Job, JobRequest
from holdfast.models.jobs.job_state import JobCounts, TaskState
from holdfast.models.plans.plan_change import PlanChange
from holdfast.models.plans.research_plan import Plan, TaskStatus
from holdfast.models.strategies.job_strategy import Strategy
from holdfast.models.tasks.stored_task import plan_of
from holdfast.models.wire.event_kinds import EventKind
from holdfast.planning.budget.fork_price import bill_of, fork_amount, sum_amounts
from holdfast.planning.plans.downstream_tasks import owning_task
from holdfast.planning.plans.fork_scope import (
    ForkScope,
    fork_scope,
    kept_and_pending,
)
from holdfast.planning.scheduler.job_endings import has_answer
from holdfast.planning.scheduler.state_transitions import rebuild_state
from holdfast.planning.strategies.strategy_presets import preset, with_settings
from holdfast.records.edited_fork_plan import plan_change_of
from holdfast.records.fork_submission import ForkedJob, ForkedTask, ForkPlan, ForkSubmission
from holdfast.storage.core.database import JobTransaction
from holdfast.storage.forks import fork_rows
from holdfast.storage.forks.fork_amounts import load_call_amounts
from holdfast.storage.forks.fork_rows import KeptTasks
from holdfast.storage.jobs import job_rows
from holdfast.storage.jobs.job_control_rows import check_has_answers
from holdfast.storage.jobs.job_rows import Preparation
from holdfast.storage.plans import plan_change_rows, task_queries

_TRIES_AT_A_MOVING_PLAN = 2


@dataclass(frozen=True)
class PreparedFork:
    """A fork that was checked, before it is stored."""

    forked: Job
    request: JobRequest
    asked: Mapping[str, JsonValue]
    """What was asked for: the same again, with the same key, is the same fork."""
    plan: Plan
    """The plan of the forked job."""
    scope: ForkScope | None
    """None: the whole job runs again."""
    change: PlanChange | None = None
    retracted: tuple[int, ...] = ()
    bills: Sequence[Bill] = field(default_factory=list)
    note: str = ""


async def prepare_fork(
    holdfast: Holdfast,
    job_id: str,
    submission: ForkSubmission,
    *,
    owner: str,
    by: str,
    cause: ForkCause = ForkCause.FORKED,
) -> PreparedFork:
    """Check a fork of the job; nothing is stored.

    Raises:
        NotFound: there is no such job, task, preset or evidence.
        BadInput: nothing is changed, the change cannot be made, or the job has no recorded answers.
    """
    asked = {"fork": job_id, "owner": owner, "cause": cause.value} | submission.model_dump(
        mode="json", exclude_defaults=True
    )
    submission = submission.with_model_setting
    db = holdfast.db
    forked = await job_rows.load_job(db, job_id)
    async with db.reading() as connection:
        await check_has_answers(connection, job_id)
    plan = plan_of(await task_queries.load_tasks(db, job_id))
    retracted = (
        await fork_rows.same_evidence(db, job_id, submission.retract) if submission.retract else {}
    )
    request = _request(holdfast, forked, submission, owner)
    change = await plan_change_of(holdfast, submission, request, plan, by)
    holders = [owning_task(plan, task_id) for task_id in retracted.values()]
    named = tuple(dict.fromkeys((*submission.tasks, *holders)))
    is_whole = not named and change is None
    if is_whole and not submission.changes_settings:
        raise BadInput(
            "the fork changes nothing: name a task, a setting, a "
            "model, a preset, another question of a task, an edited plan, or evidence to retract"
        )
    scope = None if is_whole else fork_scope(plan, named, change)
    if scope is not None:
        _check_runs(plan, scope, request.strategy)
    # Without any change, the calls of the named tasks would all be answered from the record. What
    # depends on retracted evidence is asked for again as well.
    is_plain = not submission.changes_settings and not submission.changes_plan
    again = tuple(dict.fromkeys((*(submission.tasks if is_plain else ()), *holders)))
    fork = Fork(
        job=job_id,
        origins=(job_id, *(forked.request.fork.origins if forked.request.fork else ())),
        day=forked.day.isoformat() if cause is ForkCause.FORKED else None,
        rerun=scope.rerun if scope else (),
        again=again,
        cause=cause,
        changes=submission.in_words,
    )
    return PreparedFork(
        forked=forked,
        request=request.model_copy(update={"fork": fork}),
        asked=asked,
        plan=plan,
        scope=scope,
        change=change,
        retracted=tuple(retracted),
        bills=await load_call_amounts(db, job_id),
        note=await missing_documents_note(db, forked),
    )


def fork_plan(prepared: PreparedFork, prices: PriceList) -> ForkPlan:
    """What the fork runs and keeps, and what it may cost."""
    scope, bills, fork = prepared.scope, prepared.bills, prepared.request.fork
    is_other_model = prepared.request.model != prepared.forked.request.model
    model = prepared.request.model if is_other_model else None
    total = fork_amount(bills, None if scope is None else scope.rerun, model, prices)
    made = sum(bill.calls for bill in bills)
    return ForkPlan(
        forked_job=prepared.forked.id,
        question=prepared.request.question,
        is_whole=scope is None,
        rerun=_forked_tasks(prepared, prices),
        kept=scope.kept if scope else (),
        changes=fork.changes if fork else (),
        kept_calls=made - total.calls,
        calls=total.calls,
        tokens=total.tokens,
        cost=total.cost,
        currency=prices.currency,
        sends_again=bool(fork and fork.again),
        note=prepared.note,
    )


async def preview_fork(
    holdfast: Holdfast, job_id: str, submission: ForkSubmission, *, owner: str, by: str
) -> ForkPlan:
    """What a fork would run, keep and cost; nothing is stored.

    Raises:
        As `prepare_fork`.
    """
    prepared = await prepare_fork(holdfast, job_id, submission, owner=owner, by=by)
    return fork_plan(prepared, read_prices(holdfast.settings.config_file))


async def fork_job(
    holdfast: Holdfast,
    job_id: str,
    submission: ForkSubmission,
    *,
    owner: str,
    by: str,
    key: str | None = None,
    key_id: str = "",
) -> ForkedJob:
    """Start a fork of the job; with `key`, once for each key.

    `key_id` is the API key that asks for the fork; its quota counts the fork's calls.

    Raises:
        As `prepare_fork`, and:
        ServiceDown: Temporal does not answer; the fork is stored, and a worker starts it.
    """
    for _ in range(_TRIES_AT_A_MOVING_PLAN):
        prepared = await prepare_fork(holdfast, job_id, submission, owner=owner, by=by)
        with suppress(PlanMoved):
            return await start_fork(holdfast, prepared, by=by, key=key, key_id=key_id)
    prepared = await prepare_fork(holdfast, job_id, submission, owner=owner, by=by)
    return await start_fork(holdfast, prepared, by=by, key=key, key_id=key_id)


async def start_fork(
    holdfast: Holdfast,
    prepared: PreparedFork,
    *,
    by: str,
    key: str | None = None,
    key_id: str = "",
    prepare: Preparation | None = None,
) -> ForkedJob:
    """Store a checked fork and start its workflow.

    `prepare` writes more of what the fork begins with.

    Raises:
        ServiceDown: Temporal does not answer; the fork is stored, and a worker starts it.
    """

    async def begin(write: JobTransaction) -> None:
        await _write_beginning(write, prepared, by)
        if prepare is not None:
            await prepare(write)

    new = await holdfast.submit(
        prepared.request, key=key, key_id=key_id, prepare=begin, asked=dict(prepared.asked)
    )
    return ForkedJob(
        job_id=new, fork=fork_plan(prepared, read_prices(holdfast.settings.config_file))
    )


async def _write_beginning(write: JobTransaction, prepared: PreparedFork, by: str) -> None:
    """Write the plan, the kept results and the change into the new job.

    Raises:
        PlanMoved: the forked job, which runs, has changed its plan since the fork was checked.
    """
    origin, scope = prepared.forked.id, prepared.scope
    fork = prepared.request.fork
    rerun: list[JsonValue] = list(scope.rerun) if scope else []
    changes: list[JsonValue] = list(fork.changes) if fork else []
    write.event(EventKind.JOB_FORKED, job=origin, by=by, rerun=rerun, changes=changes)
    if scope is None:
        return
    kept, pending = kept_and_pending(prepared.plan, scope)
    # Plan changes, tasks and results are copied by several statements, which must agree.
    await fork_rows.hold_origin(write, origin)
    present = plan_of(await task_queries.load_tasks_within(write.connection, origin))
    if _has_moved(prepared.plan, present, kept):
        raise PlanMoved(f"job {origin} has changed its plan meanwhile; fork it again")
    owners: Mapping[str, str] = {t.id: t.parent for t in prepared.plan.tasks if t.parent}
    await fork_rows.copy_kept_work(
        write,
        origin,
        KeptTasks(kept=kept, pending=pending, owners=owners, retracted=prepared.retracted),
    )
    if prepared.change is not None:
        known = {*kept, *pending}
        copied = Plan(tasks=tuple(t for t in prepared.plan.tasks if t.id in known))
        await plan_change_rows.store_change(write, copied, prepared.change)


def _has_moved(checked: Plan, present: Plan, kept: Sequence[str]) -> bool:
    """True if tasks were added or superseded, or if a kept task is not as it was checked."""
    now = {task.id: task for task in present.tasks}
    then = {task.id: task for task in checked.tasks}
    gone = TaskStatus.SUPERSEDED
    if then.keys() != now.keys() or any(now[name] != then[name] for name in kept):
        return True
    return any((now[name].status is gone) != (task.status is gone) for name, task in then.items())


def _request(holdfast: Holdfast, forked: Job, submission: ForkSubmission, owner: str) -> JobRequest:
    """The request of the fork: that of the forked job, with other settings."""
    settings, name = holdfast.settings, submission.preset or forked.request.preset
    strategy = forked.request.strategy.model_copy(update={"plan_only": False})
    if submission.preset is not None:
        with error_field("preset"):
            strategy = preset(submission.preset).strategy
    with error_field("settings"):
        strategy = with_settings(strategy, submission.settings)
    with error_field("model"):
        model = forked.request.model
        if submission.model is not None:
            model = checked_model_name(submission.model)
    if submission.model is not None:
        # A model that is named for one job plays all its roles.
        strategy = strategy.model_copy(update={"role_models": {}})
    elif submission.preset is not None:
        strategy = with_role_models(strategy, name, settings)
    if submission.changes_settings and settings.uses_embedded_temporal:
        check_job_models(model, strategy, settings)
    changed = {"preset": name, "model": model, "strategy": strategy, "owner": owner}
    return forked.request.model_copy(update=changed)


def _check_runs(plan: Plan, scope: ForkScope, strategy: Strategy) -> None:
    """Refuse a fork that would end before its tasks run.

    Raises:
        BadInput: the answer depends on none of the tasks.
    """
    pending = set(scope.rerun)
    states = [
        TaskState.of(
            task.with_status(TaskStatus.PENDING) if task.id in pending else task, root=task.id
        )
        for task in plan.tasks
        if task.parent not in pending
    ]
    if has_answer(rebuild_state(strategy, JobCounts(has_plan=True), states)):
        raise BadInput(
            f"the answer depends on none of {', '.join(scope.rerun)}: it would stay, and "
            "they would not run; name the task that answers as well"
        )


def _forked_tasks(prepared: PreparedFork, prices: PriceList) -> tuple[ForkedTask, ...]:
    scope, change = prepared.scope, prepared.change
    own = [task for task in prepared.plan.live if not task.parent]
    chosen = [task for task in own if scope is None or task.id in scope.rerun]
    tasks = [*chosen, *(change.added if change else ())]
    added = set(change.added_ids if change else ())
    found = []
    for task in tasks:
        bills = [bill for bill in prepared.bills if bill_of(bill, (task.id,)) is not None]
        amount = sum_amounts(bills, None, prices)
        why = "changed" if scope is None else scope.why(task.id)
        words = change.new_values.get(task.id, {}).get("description") if change else None
        found.append(
            ForkedTask(
                task=task.id,
                description=str(words or task.description),
                why="added" if task.id in added else why,
                calls=0 if task.id in added else amount.calls,
                tokens=0 if task.id in added else amount.tokens,
            )
        )
    return tuple(found)
