"""Read a job's counters, spending, calls and events; write nothing."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from sqlalchemy import (
    ARRAY,
    BigInteger,
    ColumnElement,
    Numeric,
    Table,
    Text,
    cast,
    exists,
    func,
    literal,
    null,
    or_,
    select,
    union_all,
)
from sqlalchemy.ext.asyncio import AsyncConnection

from holdfast.models.budget.spend_breakdown import Bill, Spend, SpendBreakdown, Tokens
from holdfast.models.calls.call_records import CallView
from holdfast.models.calls.call_status import CallStatus
from holdfast.models.frozen_model import Frozen
from holdfast.models.jobs.job_state import JobCounts, VerificationProgress
from holdfast.models.plans.research_plan import TaskKind, TaskStatus
from holdfast.models.questions.user_questions import OpenQuestion, QuestionStatus
from holdfast.models.verification.verification_verdicts import StopCondition
from holdfast.models.views.job_views import CallCounts, EventView
from holdfast.models.wire import stored_keys
from holdfast.planning.budget.spend_totals import spend_breakdown
from holdfast.storage.core.database import Database
from holdfast.storage.core.tables.call_tables import model_calls, tool_calls
from holdfast.storage.core.tables.job_tables import events, jobs, receipts
from holdfast.storage.core.tables.plan_tables import plan_changes, tasks
from holdfast.storage.core.tables.question_tables import questions
from holdfast.storage.core.tables.verification_tables import stop_log
from holdfast.storage.ledger.spending_queries import bills_of, tokens_of
from holdfast.storage.plans.task_queries import select_opening_task


async def job_counts(db: Database, job_id: str) -> JobCounts:
    """Return the counts of a job (replans, tool tasks, tokens), computed from its rows."""
    by_root = (
        select(tasks.c.root, func.count())
        .join(
            plan_changes,
            (plan_changes.c.job_id == tasks.c.job_id) & (plan_changes.c.failed_task == tasks.c.id),
        )
        .where(tasks.c.job_id == job_id)
        .group_by(tasks.c.root)
    )
    # By their receipts: an attempt that has not finished is started again, and counted then. Not by
    # the number of the attempt, which a step has from its agent.
    finished_tools = (
        select(func.count())
        .select_from(receipts)
        .join(
            tasks,
            (tasks.c.job_id == receipts.c.job_id)
            & (tasks.c.id == func.split_part(receipts.c.key, stored_keys.ATTEMPT_SEPARATOR, 1)),
        )
        .where(receipts.c.job_id == job_id, tasks.c.kind == TaskKind.TOOL.value)
        .where(receipts.c.key.contains(stored_keys.ATTEMPT_SEPARATOR))
    )
    # Not counted by plan changes: a discarded plan is no replan, and an opening loop no plan.
    opening = select_opening_task(job_id)
    has_plan = select(func.count()).where(
        tasks.c.job_id == job_id,
        tasks.c.status != TaskStatus.SUPERSEDED.value,
        tasks.c.id.not_in(opening),
        tasks.c.parent.not_in(opening),
    )
    has_report = select(func.count()).where(
        receipts.c.job_id == job_id, receipts.c.key == stored_keys.REPORT_RECEIPT
    )
    revisions = (
        select(func.count())
        .where(receipts.c.job_id == job_id)
        .where(receipts.c.key.startswith(stored_keys.REVISION_RECEIPTS))
    )
    results = select(jobs.c.results_considered).where(jobs.c.id == job_id)
    lacks_answer = select(func.count()).where(
        jobs.c.id == job_id,
        jobs.c.answer.is_(None),
        exists().where(receipts.c.job_id == job_id, receipts.c.key == stored_keys.REPORT_RECEIPT),
    )
    numbers = select(
        revisions.scalar_subquery().label("revisions"),
        results.scalar_subquery().label("results_considered"),
        has_plan.scalar_subquery().label("has_plan"),
        finished_tools.scalar_subquery().label("tool_calls"),
        has_report.scalar_subquery().label("has_report"),
        lacks_answer.scalar_subquery().label("lacks_answer"),
    )
    async with db.reading() as connection:
        replans = {row[0]: int(row[1]) for row in (await connection.execute(by_root)).all()}
        tokens = await tokens_of(connection, job_id)
        counted = (await connection.execute(numbers)).one()
        return JobCounts(
            revisions=counted.revisions,
            results_considered=counted.results_considered or 0,
            rounds=await _rounds(connection, job_id),
            questions=await _open_questions(connection, job_id),
            has_plan=counted.has_plan > 0,
            replans=replans,
            tool_calls=counted.tool_calls,
            has_report=counted.has_report > 0,
            lacks_answer=counted.lacks_answer > 0,
            tokens=tokens.input + tokens.output,
        )


async def _rounds(connection: AsyncConnection, job_id: str) -> VerificationProgress:
    query = (
        select(stop_log.c.round, stop_log.c.fired, stop_log.c.is_filled)
        .where(stop_log.c.job_id == job_id)
        .order_by(stop_log.c.round)
    )
    rows = (await connection.execute(query)).all()
    fired = rows[-1].fired if rows else None
    return VerificationProgress(
        verified=rows[-1].round if rows else 0,
        filled=max((row.round for row in rows if row.is_filled), default=0),
        stop=StopCondition(fired) if fired else None,
    )


async def _open_questions(connection: AsyncConnection, job_id: str) -> tuple[OpenQuestion, ...]:
    query = (
        select(questions.c.id, questions.c.kind, questions.c.task_id, questions.c.deadline)
        .where(questions.c.job_id == job_id, questions.c.status == QuestionStatus.OPEN.value)
        .order_by(questions.c.id)
    )
    rows = (await connection.execute(query)).mappings().all()
    return tuple(OpenQuestion.model_validate(dict(row)) for row in rows)


class JobSpending(Frozen):
    """The spend of a job, and the calls that were saved."""

    bills: tuple[Bill, ...]
    spent: SpendBreakdown
    calls: CallCounts
    repeated_calls: int
    reused_calls: int

    @property
    def tokens(self) -> Tokens:
        total = self.spent.total
        return Tokens(input=total.input_tokens, output=total.output_tokens)

    @property
    def by_task(self) -> dict[str, Spend]:
        return {each.name: each for each in self.spent.by_task}


async def job_spending(db: Database, job_id: str) -> JobSpending:
    """Return calls and tokens of one job; a repeated call reused an earlier answer."""
    async with db.reading() as connection:
        model = await _call_counts(connection, model_calls, job_id)
        tool = await _call_counts(connection, tool_calls, job_id)
        bills = await bills_of(connection, job_id)
        return JobSpending(
            bills=tuple(bills),
            spent=spend_breakdown(bills),
            calls=CallCounts(model=model.all - model.repeated, tool=tool.all - tool.repeated),
            repeated_calls=model.repeated + tool.repeated,
            reused_calls=model.reused + tool.reused,
        )


def _is_repeated(table: Table) -> ColumnElement[bool]:
    """True for calls that were not sent: another call of the job, or an origin, has the answer."""
    is_inherited = table.c.origin_call_id.is_not(None)
    if table is model_calls:
        return is_inherited
    return or_(is_inherited, table.c.repeated_call_id.is_not(None))


class _CallCounts(NamedTuple):
    all: int
    repeated: int
    """Those that an earlier call answered, or an origin of the fork."""
    reused: int


async def _call_counts(connection: AsyncConnection, table: Table, job_id: str) -> _CallCounts:
    query = select(
        func.count(),
        func.count().filter(_is_repeated(table)),
        func.coalesce(func.sum(table.c.reused), 0),
    ).where(table.c.job_id == job_id)
    return _CallCounts(*map(int, (await connection.execute(query)).one()))


async def job_calls(
    db: Database, job_id: str, *, start: int = 0, limit: int | None = None
) -> list[CallView]:
    """Return the model and tool calls of the job from the one after `start` on, oldest first."""
    zero = literal(0)
    model = select(
        literal("model").label("kind"),
        model_calls.c.role,
        model_calls.c.model.label("name"),
        *_common(model_calls),
        model_calls.c.input_tokens,
        model_calls.c.output_tokens,
        model_calls.c.cost,
        literal(False).label("is_cut"),
    ).where(model_calls.c.job_id == job_id)
    tool = select(
        literal("tool").label("kind"),
        literal("").label("role"),
        tool_calls.c.tool.label("name"),
        *_common(tool_calls),
        zero.label("input_tokens"),
        zero.label("output_tokens"),
        cast(null(), Numeric).label("cost"),
        tool_calls.c.is_cut,
    ).where(tool_calls.c.job_id == job_id)
    both = union_all(model, tool).subquery()
    query = select(both).order_by(both.c.started_at, both.c.kind, both.c.task)
    query = query.offset(start).limit(limit)
    async with db.reading() as connection:
        return [_call(row) for row in (await connection.execute(query)).mappings().all()]


async def has_answers_of_running_tasks(db: Database, job_id: str) -> bool:
    """Return True if a running task has an answer in the call ledger."""
    query = (
        select(func.count())
        .select_from(tasks.join(tool_calls, tool_calls.c.job_id == tasks.c.job_id))
        .where(tasks.c.job_id == job_id, tasks.c.status == TaskStatus.RUNNING.value)
        .where(tool_calls.c.task_id == tasks.c.id)
        .where(tool_calls.c.status == CallStatus.DONE.value)
    )
    async with db.reading() as connection:
        return bool(await connection.scalar(query))


def _common(table: Table) -> list[Any]:
    names = (
        "id",
        "request_hash",
        "status",
        "started_at",
        "finished_at",
        "reused",
        "sends",
        "error",
    )
    is_repeated = _is_repeated(table).label("is_repeated")
    return [table.c.task_id.label("task"), is_repeated, *(table.c[name] for name in names)]


def _call(row: Any) -> CallView:  # noqa: ANN401 - a row mapping
    values = dict(row)
    tokens = {"input": values.pop("input_tokens"), "output": values.pop("output_tokens")}
    return CallView(**values, tokens=tokens)


async def events_after(db: Database, job_id: str, after: int, limit: int = 1000) -> list[EventView]:
    """Return the entries of the job's log after entry `after`."""
    query = (
        select(events)
        .where(events.c.job_id == job_id, events.c.seq > after)
        .order_by(events.c.seq)
        .limit(limit)
    )
    async with db.reading() as connection:
        rows = (await connection.execute(query)).all()
    return [event_view(row) for row in rows]


async def newest_events(db: Database, job_id: str, limit: int) -> list[EventView]:
    """Return the newest entries of the job's log, the oldest of them first."""
    query = (
        select(events).where(events.c.job_id == job_id).order_by(events.c.seq.desc()).limit(limit)
    )
    async with db.reading() as connection:
        rows = (await connection.execute(query)).all()
    return [event_view(row) for row in reversed(rows)]


async def events_of_jobs(db: Database, after: Mapping[str, int]) -> dict[str, list[EventView]]:
    """Return each job's entries after the given one, in one query; jobs without any are left out.

    Raises:
        StorageAway: PostgreSQL does not answer.
    """
    ids, numbers = literal([*after], ARRAY(Text)), literal([*after.values()], ARRAY(BigInteger))
    starts = func.unnest(ids, numbers).table_valued("job_id", "seq", name="starts").render_derived()
    query = (
        select(events)
        .join(starts, (events.c.job_id == starts.c.job_id) & (events.c.seq > starts.c.seq))
        .order_by(events.c.job_id, events.c.seq)
    )
    found: dict[str, list[EventView]] = {}
    async with db.reading() as connection:
        for row in (await connection.execute(query)).all():
            found.setdefault(row.job_id, []).append(event_view(row))
    return found


def event_view(row: Any) -> EventView:  # noqa: ANN401 - a row of `events`
    """Return the entry of the log that a row of the table `events` has."""
    return EventView(seq=row.seq, at=row.at, kind=row.kind, task=row.task_id, facts=row.facts)


async def load_workflow_run_id(db: Database, job_id: str) -> str | None:
    """Return the id of the job's current or last workflow run."""
    async with db.reading() as connection:
        found: str | None = await connection.scalar(
            select(jobs.c.run_id).where(jobs.c.id == job_id)
        )
        return found
