"""Sum up what the answered model calls of a job took, as the price of running them again."""

from sqlalchemy import ColumnElement, case, func, select

from holdfast.models.budget.spend_breakdown import Bill
from holdfast.models.calls.call_status import CallStatus
from holdfast.storage.core.database import Database
from holdfast.storage.core.tables.call_tables import model_calls


async def load_call_amounts(db: Database, job_id: str) -> list[Bill]:
    """Return calls, tokens and cost of the answered calls, by task, role and model.

    A call that an origin of the fork answered counts with what the origin paid for it, whichever
    task it was for; its price is unknown if the origin was removed.
    """
    call, paid = model_calls.alias("call"), model_calls.alias("paid")
    is_inherited = call.c.origin_call_id.is_not(None)
    cost = case((is_inherited, paid.c.cost), else_=call.c.cost)

    def total(name: str) -> ColumnElement[int]:
        return func.sum(func.coalesce(case((is_inherited, paid.c[name]), else_=call.c[name]), 0))

    query = (
        select(
            call.c.role,
            call.c.task_id.label("task"),
            call.c.model,
            func.count().label("calls"),
            total("input_tokens").label("input_tokens"),
            total("output_tokens").label("output_tokens"),
            case((func.bool_or(cost.is_(None)), None), else_=func.sum(cost)).label("cost"),
        )
        .select_from(call.outerjoin(paid, paid.c.id == call.c.origin_call_id))
        .where(call.c.job_id == job_id, call.c.status == CallStatus.DONE.value)
        .group_by(call.c.role, call.c.task_id, call.c.model)
    )
    async with db.reading() as connection:
        rows = (await connection.execute(query)).mappings().all()
    return [Bill.model_validate(dict(row)) for row in rows]
