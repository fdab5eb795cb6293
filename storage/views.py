"""The read side: jobs, calls, events and statistics as people see them. Looking never writes."""

from typing import Any

from sqlalchemy import Numeric, Table, cast, exists, func, literal, null, select, union_all
from sqlalchemy.ext.asyncio import AsyncConnection

from models.base import Frozen
from models.calls import CallView
from models.questions import OpenQuestion
from models.spending import Breakdown, Spend, Tokens
from models.state import Counts, Rounds
from models.tables import (
    events,
    jobs,
    llm_calls,
    plan_revisions,
    questions,
    receipts,
    stop_checks,
    tasks,
    tool_calls,
)
from models.verification import StopCondition
from models.views import CallCounts, EventView
from planning.spending import breakdown
from storage.control import REPORT_KEY
from storage.database import Database
from storage.plans import REVISE_KEY
from storage.spending import bills_of, tokens_of


async def counts(db: Database, job_id: str) -> Counts:
    """Replans by lineage, finished tool tasks, tokens: counted from the rows, so never lost."""
    by_root = (
        select(tasks.c.root, func.count())
        .join(
            plan_revisions,
            (plan_revisions.c.job_id == tasks.c.job_id)
            & (plan_revisions.c.failed_task == tasks.c.id),
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
            & (tasks.c.id == func.split_part(receipts.c.key, "#", 1)),
        )
        .where(receipts.c.job_id == job_id, tasks.c.kind == "tool")
        .where(receipts.c.key.contains("#"))
    )
    # Not the revisions: a plan that was set aside to be planned anew is none.
    has_plan = select(func.count()).where(tasks.c.job_id == job_id, tasks.c.status != "superseded")
    has_report = select(func.count()).where(
        receipts.c.job_id == job_id, receipts.c.key == REPORT_KEY
    )
    revisions = (
        select(func.count())
        .where(receipts.c.job_id == job_id)
        .where(receipts.c.key.startswith(REVISE_KEY))
    )
    considered = select(jobs.c.considered).where(jobs.c.id == job_id)
    lacks_answer = select(func.count()).where(
        jobs.c.id == job_id,
        jobs.c.answer.is_(None),
        exists().where(receipts.c.job_id == job_id, receipts.c.key == REPORT_KEY),
    )
    async with db.reading() as connection:
        replans = {row[0]: int(row[1]) for row in (await connection.execute(by_root)).all()}
        tokens = await tokens_of(connection, job_id)
        return Counts(
            revisions=int(await connection.scalar(revisions) or 0),
            considered=int(await connection.scalar(considered) or 0),
            rounds=await _rounds(connection, job_id),
            questions=await _open_questions(connection, job_id),
            has_plan=bool(await connection.scalar(has_plan)),
            replans=replans,
            tool_calls=int(await connection.scalar(finished_tools) or 0),
            has_report=bool(await connection.scalar(has_report)),
            lacks_answer=bool(await connection.scalar(lacks_answer)),
            tokens=tokens.input + tokens.output,
        )


async def _rounds(connection: AsyncConnection, job_id: str) -> Rounds:
    query = (
        select(stop_checks.c.iteration, stop_checks.c.fired, stop_checks.c.is_filled)
        .where(stop_checks.c.job_id == job_id)
        .order_by(stop_checks.c.iteration)
    )
    rows = (await connection.execute(query)).all()
    fired = rows[-1].fired if rows else None
    return Rounds(
        verified=rows[-1].iteration if rows else 0,
        filled=max((row.iteration for row in rows if row.is_filled), default=0),
        stop=StopCondition(fired) if fired else None,
    )


async def _open_questions(connection: AsyncConnection, job_id: str) -> tuple[OpenQuestion, ...]:
    query = (
        select(questions.c.id, questions.c.kind, questions.c.task_id, questions.c.deadline)
        .where(questions.c.job_id == job_id, questions.c.status == "open")
        .order_by(questions.c.id)
    )
    rows = (await connection.execute(query)).mappings().all()
    return tuple(OpenQuestion.model_validate(dict(row)) for row in rows)


class Spending(Frozen):
    """What a job spent and saved."""

    spent: Breakdown
    calls: CallCounts
    repeated_calls: int
    reused_calls: int

    @property
    def tokens(self) -> Tokens:
        total = self.spent.total
        return Tokens(input=total.input_tokens, output=total.output_tokens)

    @property
    def of_tasks(self) -> dict[str, Spend]:
        return {each.name: each for each in self.spent.by_task}


async def spending(db: Database, job_id: str) -> Spending:
    """Calls and tokens of one job; a repeated call is one that was answered from an earlier one."""
    async with db.reading() as connection:
        model, model_reused = await _made(connection, llm_calls, job_id)
        tool, tool_reused = await _made(connection, tool_calls, job_id)
        repeated = await connection.scalar(
            select(func.count()).where(
                tool_calls.c.job_id == job_id, tool_calls.c.repeats.is_not(None)
            )
        )
        return Spending(
            spent=breakdown(await bills_of(connection, job_id)),
            calls=CallCounts(model=model, tool=tool - int(repeated or 0)),
            repeated_calls=int(repeated or 0),
            reused_calls=model_reused + tool_reused,
        )


async def _made(connection: AsyncConnection, table: Table, job_id: str) -> tuple[int, int]:
    query = select(func.count(), func.coalesce(func.sum(table.c.reused), 0))
    row = (await connection.execute(query.where(table.c.job_id == job_id))).one()
    return int(row[0]), int(row[1])


async def calls(db: Database, job_id: str) -> list[CallView]:
    """Every model and tool call of the job, in the order they were announced."""
    zero = literal(0)
    model = select(
        literal("model").label("kind"),
        llm_calls.c.role,
        llm_calls.c.model.label("name"),
        *_common(llm_calls),
        llm_calls.c.input_tokens,
        llm_calls.c.output_tokens,
        llm_calls.c.cost,
        literal(False).label("is_cut"),
    ).where(llm_calls.c.job_id == job_id)
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
    async with db.reading() as connection:
        return [_call(row) for row in (await connection.execute(query)).mappings().all()]


async def has_answers_under_way(db: Database, job_id: str) -> bool:
    """Whether a task that runs has an answer in the ledger: what a crash now would not lose."""
    query = (
        select(func.count())
        .select_from(tasks.join(tool_calls, tool_calls.c.job_id == tasks.c.job_id))
        .where(tasks.c.job_id == job_id, tasks.c.status == "running")
        .where(tool_calls.c.task_id == tasks.c.id, tool_calls.c.status == "done")
    )
    async with db.reading() as connection:
        return bool(await connection.scalar(query))


def _common(table: Table) -> list[Any]:
    names = ("request_hash", "status", "started_at", "finished_at", "reused", "sends", "error")
    return [table.c.task_id.label("task"), *(table.c[name] for name in names)]


def _call(row: Any) -> CallView:  # noqa: ANN401 - a row mapping
    values = dict(row)
    tokens = {"input": values.pop("input_tokens"), "output": values.pop("output_tokens")}
    return CallView(**values, tokens=tokens)


async def events_after(db: Database, job_id: str, after: int, limit: int = 1000) -> list[EventView]:
    """The job's log behind entry `after`."""
    query = (
        select(events)
        .where(events.c.job_id == job_id, events.c.seq > after)
        .order_by(events.c.seq)
        .limit(limit)
    )
    async with db.reading() as connection:
        rows = (await connection.execute(query)).all()
    return [
        EventView(seq=row.seq, at=row.at, kind=row.kind, task=row.task_id, facts=row.facts)
        for row in rows
    ]


async def run_id(db: Database, job_id: str) -> str | None:
    """The workflow run that works on the job, or did last."""
    async with db.reading() as connection:
        found: str | None = await connection.scalar(
            select(jobs.c.run_id).where(jobs.c.id == job_id)
        )
        return found
