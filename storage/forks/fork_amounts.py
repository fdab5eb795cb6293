"""Sum up what the answered model calls of a job took, as the price of running them again."""

from sqlalchemy import ColumnElement, Integer, and_, case, func, not_, select

from holdfast.models.budget.spend_breakdown import Bill
from holdfast.models.calls.call_status import CallStatus
from holdfast.models.strategies.job_strategy import EXTRACTIVE_MODEL
from holdfast.storage.core.database import Database
from holdfast.storage.core.tables.call_tables import model_calls

_CHARS_A_TOKEN = 4
"""Roughly: PostgreSQL counts, so that no request is read for it as `estimate_tokens` would."""


async def load_call_amounts(db: Database, job_id: str) -> list[Bill]:
    """Return calls, tokens and cost of the answered calls, by task, role and model.

    A call that an origin of the fork answered counts with what the origin paid for it, whichever
    task it was for. If the origin was removed, its tokens are a quarter of the characters of the
    request and of the answer, and its price is unknown; the built-in model still takes none.
    """
    call, paid = model_calls.alias("call"), model_calls.alias("paid")
    is_inherited = call.c.origin_call_id.is_not(None)
    is_free = call.c.model == EXTRACTIVE_MODEL
    is_lost = and_(is_inherited, paid.c.id.is_(None), not_(is_free))
    cost = case(
        (is_lost, None), (and_(is_inherited, not_(is_free)), paid.c.cost), else_=call.c.cost
    )

    def total(name: str, words: ColumnElement[str]) -> ColumnElement[int]:
        estimated = func.length(words, type_=Integer) // _CHARS_A_TOKEN
        tokens = case((is_lost, estimated), (is_inherited, paid.c[name]), else_=call.c[name])
        return func.sum(func.coalesce(tokens, 0))

    query = (
        select(
            call.c.role,
            call.c.task_id.label("task"),
            call.c.model,
            func.count().label("calls"),
            total("input_tokens", call.c.request).label("input_tokens"),
            total("output_tokens", call.c.response).label("output_tokens"),
            case((func.bool_or(cost.is_(None)), None), else_=func.sum(cost)).label("cost"),
        )
        .select_from(call.outerjoin(paid, paid.c.id == call.c.origin_call_id))
        .where(call.c.job_id == job_id, call.c.status == CallStatus.DONE.value)
        .group_by(call.c.role, call.c.task_id, call.c.model)
    )
    async with db.reading() as connection:
        rows = (await connection.execute(query)).mappings().all()
    return [Bill.model_validate(dict(row)) for row in rows]
