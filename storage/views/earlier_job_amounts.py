"""Compute what earlier jobs of this installation took, as the estimate of the next one."""

from sqlalchemy import text

from holdfast.models.budget.token_prices import Money
from holdfast.models.frozen_model import Frozen
from holdfast.storage.core.database import Database
from holdfast.storage.views.idle_spans import IS_FIRST_END, OPEN_SECONDS

# The newest jobs of a model; a job whose price is unknown has no cost. A job that was opened again
# after its end does not tell what the next one takes, unless it had only been planned.
_AMOUNTS = text(f"""
with ended as (
    select id, preset, {OPEN_SECONDS} as seconds from jobs
    where model = :model and status = 'done' and finished_at is not null
        and stop_reason is distinct from 'planned' and imported is null and fork is null
        and {IS_FIRST_END}
        and (cast(:owner as text) is null or owner = :owner)
    order by created_at desc limit 500),
model_use as (
    select job_id, count(*) as calls, sum(input_tokens + output_tokens) as tokens,
        case when bool_and(cost is not null) then sum(cost) end as cost
    from model_calls where job_id in (select id from ended) group by job_id),
tool_use as (
    select job_id, count(*) as calls from tool_calls
    where job_id in (select id from ended) and repeated_call_id is null group by job_id),
spent as (
    select preset, seconds, coalesce(m.calls, 0) + coalesce(t.calls, 0) as calls,
        coalesce(m.tokens, 0)::bigint as tokens,
        case when m.job_id is null then 0 else m.cost end as cost
    from ended left join model_use m on m.job_id = ended.id
    left join tool_use t on t.job_id = ended.id)
select preset, count(*) as jobs,
    percentile_disc(0.5) within group (order by calls) as calls,
    percentile_disc(0.5) within group (order by tokens) as tokens,
    percentile_disc(0.5) within group (order by cost) as cost,
    percentile_disc(0.9) within group (order by cost) as high_cost,
    percentile_disc(0.5) within group (order by seconds) as seconds
from spent group by preset
""")  # noqa: S608 - constants
_DAYS = text("""
select date_trunc('day', started_at)::date::text as day, count(*) as calls,
    sum(input_tokens)::bigint as input_tokens, sum(output_tokens)::bigint as output_tokens,
    sum(cost) as cost, bool_and(cost is not null) as is_known
from model_calls where started_at > now() - make_interval(days => :days) group by 1 order by 1 desc
""")


class EarlierAmounts(Frozen):
    """The medians of earlier jobs with one preset."""

    preset: str
    jobs: int
    calls: int
    tokens: int
    cost: Money | None
    high_cost: Money | None
    """Nine of ten jobs cost at most this."""
    seconds: float


class DaySpend(Frozen):
    """The model calls of one day."""

    day: str
    calls: int
    input_tokens: int
    output_tokens: int
    cost: Money | None
    is_known: bool
    """False if the price of some call is unknown; the cost is that of the others."""


async def load_earlier_amounts(
    db: Database, model: str, owner: str | None
) -> dict[str, EarlierAmounts]:
    """Return the medians of ended jobs with this model, by preset; of one owner if one is given."""
    async with db.reading() as connection:
        rows = (await connection.execute(_AMOUNTS, {"model": model, "owner": owner})).mappings()
        return {row["preset"]: EarlierAmounts.model_validate(dict(row)) for row in rows}


async def load_spend_by_day(db: Database, days: int) -> list[DaySpend]:
    """Return the spend of the last days, the newest day first."""
    async with db.reading() as connection:
        rows = (await connection.execute(_DAYS, {"days": days})).mappings()
        return [DaySpend.model_validate(dict(row)) for row in rows]
