"""Compute what the newest jobs of a preset and model took."""

from sqlalchemy import text

from holdfast.models.budget.job_expectation import UsualUsage
from holdfast.storage.core.database import Database
from holdfast.storage.views.idle_spans import IS_FIRST_END, OPEN_SECONDS

# Comparisons of the finished report are not what a job takes, nor are its later attempts.
# A failed call without token counts is taken to have cost nothing, as in `spending_queries`.
_USUAL = text(f"""
with latest as (
    select id, {OPEN_SECONDS} as seconds
    from jobs
    where preset = :preset and model = :model and status = 'done' and finished_at is not null
        and stop_reason <> 'planned' and imported is null and fork is null
        and {IS_FIRST_END}
    order by created_at desc limit 20),
used as (
    select latest.id, latest.seconds,
        (select count(*) from tool_calls where tool_calls.job_id = latest.id) as tool_calls,
        count(model_calls.id) as model_calls,
        coalesce(sum(input_tokens + output_tokens), 0) as tokens,
        case when bool_or(model_calls.cost is null
                and (model_calls.status = 'done' or input_tokens + output_tokens > 0)) then null
            else coalesce(sum(model_calls.cost), 0) end as cost
    from latest left join model_calls
        on model_calls.job_id = latest.id and model_calls.role <> 'claim_matcher'
    group by latest.id, latest.seconds)
select count(*) as jobs,
    percentile_disc(0.5) within group (order by seconds) as seconds,
    percentile_disc(0.5) within group (order by tool_calls) as tool_calls,
    percentile_disc(0.5) within group (order by model_calls) as model_calls,
    percentile_disc(0.5) within group (order by tokens)::bigint as tokens,
    case when bool_or(cost is null) then null
        else percentile_disc(0.5) within group (order by cost) end as cost
from used
""")  # noqa: S608 - constants


async def load_usual_usage(db: Database, preset: str, model: str) -> UsualUsage | None:
    """Return the medians of the newest 20 such jobs; None if none has ended with an answer."""
    async with db.reading() as connection:
        row = (await connection.execute(_USUAL, {"preset": preset, "model": model})).mappings()
        found = dict(row.one())
    return UsualUsage.model_validate(found) if found["jobs"] else None
