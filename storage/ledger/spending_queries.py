"""Sum up the tokens, costs and times of recorded calls, for one job or for all jobs."""

from collections.abc import Collection
from decimal import Decimal

from sqlalchemy import ColumnElement, Table, and_, case, func, literal, or_, select
from sqlalchemy.ext.asyncio import AsyncConnection

from holdfast.models.budget.job_stages import ToolBill
from holdfast.models.budget.spend_breakdown import Bill, Tokens
from holdfast.models.calls.call_status import CallStatus
from holdfast.storage.core.database import Database
from holdfast.storage.core.tables.call_tables import model_calls, tool_calls


async def bills_of(connection: AsyncConnection, job_id: str | None) -> list[Bill]:
    """Return what the model calls of a job, or of all jobs, used and cost, by role and model.

    The calls of a fork that its origins answered are left out.

    For all jobs, tasks and attempts are not distinguished: their ids mean nothing across jobs.
    """
    task = literal("") if job_id is None else model_calls.c.task_id
    attempt = literal(1) if job_id is None else model_calls.c.attempt
    query = select(
        model_calls.c.role,
        task.label("task"),
        attempt.label("attempt"),
        model_calls.c.model,
        func.count().label("calls"),
        func.sum(model_calls.c.input_tokens).label("input_tokens"),
        func.sum(model_calls.c.output_tokens).label("output_tokens"),
        _cost_of_calls().label("cost"),
        _seconds_of(model_calls),
    ).where(model_calls.c.origin_call_id.is_(None))
    keys = [model_calls.c.role, model_calls.c.model]
    if job_id is not None:
        query = query.where(model_calls.c.job_id == job_id)
        keys += [model_calls.c.task_id, model_calls.c.attempt]
    rows = (await connection.execute(query.group_by(*keys))).mappings().all()
    return [Bill.model_validate(dict(row)) for row in rows]


async def costs_of(db: Database, job_ids: Collection[str]) -> dict[str, Decimal | None]:
    """Return what each of the jobs has cost, by its id; None if a price is unknown.

    A job without model calls is left out, and so are the calls that the origins of a fork answered.
    """
    query = (
        select(model_calls.c.job_id, _cost_of_calls().label("cost"))
        .where(model_calls.c.job_id.in_(job_ids), model_calls.c.origin_call_id.is_(None))
        .group_by(model_calls.c.job_id)
    )
    async with db.reading() as connection:
        return {row.job_id: row.cost for row in (await connection.execute(query)).all()}


def _cost_of_calls() -> ColumnElement[Decimal | None]:
    """Return the sum of the calls' costs; null if a price is unknown."""
    was_paid = or_(
        model_calls.c.status == CallStatus.DONE.value,
        model_calls.c.input_tokens + model_calls.c.output_tokens > 0,
    )
    # A failed call without token counts is taken to have cost nothing.
    is_unknown = and_(was_paid, model_calls.c.cost.is_(None))
    known = func.coalesce(func.sum(model_calls.c.cost), 0)
    return case((func.bool_or(is_unknown), None), else_=known)


async def tool_bills_of(connection: AsyncConnection, job_id: str) -> list[ToolBill]:
    """Return the tool calls of a job by attempt, without those that an earlier call answered."""
    query = (
        select(
            tool_calls.c.task_id.label("task"),
            tool_calls.c.attempt,
            func.count().label("calls"),
            _seconds_of(tool_calls),
        )
        .where(tool_calls.c.job_id == job_id, tool_calls.c.repeated_call_id.is_(None))
        .where(tool_calls.c.origin_call_id.is_(None))
        .group_by(tool_calls.c.task_id, tool_calls.c.attempt)
    )
    rows = (await connection.execute(query)).mappings().all()
    return [ToolBill.model_validate(dict(row)) for row in rows]


def _seconds_of(calls: Table) -> ColumnElement[float]:
    """Return the sum of the times of the calls that were sent once.

    The row of a call that was sent again began with the first sending, perhaps before an outage.
    """
    took = func.extract("epoch", calls.c.finished_at - calls.c.started_at)
    # A clock that was set back while a call ran must not give negative time.
    total = func.sum(func.greatest(took, 0)).filter(calls.c.sends == 1)
    return func.coalesce(total, 0).label("seconds")


async def tokens_of(
    connection: AsyncConnection, job_id: str | None, task_id: str | None = None
) -> Tokens:
    """Return the tokens of a job, of one of its tasks, or of all jobs."""
    query = select(
        func.coalesce(func.sum(model_calls.c.input_tokens), 0),
        func.coalesce(func.sum(model_calls.c.output_tokens), 0),
    )
    if job_id is not None:
        query = query.where(model_calls.c.job_id == job_id)
    if task_id is not None:
        query = query.where(model_calls.c.task_id == task_id)
    row = (await connection.execute(query)).one()
    return Tokens(input=int(row[0]), output=int(row[1]))
