"""What the ledger's model calls add up to, and what a job's cap leaves."""

from sqlalchemy import and_, case, func, literal, or_, select
from sqlalchemy.ext.asyncio import AsyncConnection

from models.spending import Bill, Tokens
from models.tables import llm_calls


async def bills_of(connection: AsyncConnection, job_id: str | None) -> list[Bill]:
    """The model calls of a job, or of all jobs together, by role, task and model.

    The tasks of all jobs together are not told apart: their ids mean nothing then.
    """
    task = literal("") if job_id is None else llm_calls.c.task_id
    was_paid = or_(
        llm_calls.c.status == "done", llm_calls.c.input_tokens + llm_calls.c.output_tokens > 0
    )
    # What failed without a word of what it took is taken to have cost nothing.
    is_unknown = and_(was_paid, llm_calls.c.cost.is_(None))
    query = select(
        llm_calls.c.role,
        task.label("task"),
        llm_calls.c.model,
        func.count().label("calls"),
        func.sum(llm_calls.c.input_tokens).label("input_tokens"),
        func.sum(llm_calls.c.output_tokens).label("output_tokens"),
        case(
            (func.bool_or(is_unknown), None), else_=func.coalesce(func.sum(llm_calls.c.cost), 0)
        ).label("cost"),
    )
    keys = [llm_calls.c.role, llm_calls.c.model]
    if job_id is not None:
        query = query.where(llm_calls.c.job_id == job_id)
        keys.append(llm_calls.c.task_id)
    rows = (await connection.execute(query.group_by(*keys))).mappings().all()
    return [Bill.model_validate(dict(row)) for row in rows]


async def tokens_of(connection: AsyncConnection, job_id: str | None) -> Tokens:
    """The tokens of a job, or of all jobs."""
    query = select(
        func.coalesce(func.sum(llm_calls.c.input_tokens), 0),
        func.coalesce(func.sum(llm_calls.c.output_tokens), 0),
    )
    if job_id is not None:
        query = query.where(llm_calls.c.job_id == job_id)
    row = (await connection.execute(query)).one()
    return Tokens(input=int(row[0]), output=int(row[1]))
