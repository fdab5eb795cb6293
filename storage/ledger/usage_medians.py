"""Compute median tokens, seconds and steps of recorded work, as the basis of estimates."""

from sqlalchemy import text

from holdfast.models.budget.cost_estimates import RoleMedians, UsageMedians
from holdfast.storage.core.database import Database

# The job's model name counts: an endpoint may answer under a longer name.
_ROLES = text("""
with latest as (
    select role, input_tokens, output_tokens,
        extract(epoch from model_calls.finished_at - model_calls.started_at)::float8 as seconds
    from model_calls join jobs on jobs.id = job_id
    where jobs.model = :model and model_calls.status = 'done' and jobs.imported is null
        and model_calls.origin_call_id is null
    order by model_calls.id desc limit 2000)
select role, count(*) as seen,
       percentile_disc(0.5) within group (order by input_tokens) as input_tokens,
       percentile_disc(0.5) within group (order by output_tokens) as output_tokens,
       percentile_disc(0.5) within group (order by seconds) as seconds
from latest group by role
""")
_TOOLS = text("""
with latest as (
    select tool, extract(epoch from finished_at - started_at)::float8 as seconds from tool_calls
    where status = 'done' and repeated_call_id is null and origin_call_id is null
    order by id desc limit 2000)
select tool, percentile_disc(0.5) within group (order by seconds) as seconds
from latest group by tool
""")
_STEPS = text("""
with latest as (
    select count(*) as steps from tasks
    where parent <> '' and status in ('done', 'failed')
        and job_id in (select id from jobs order by created_at desc limit 200)
    group by job_id, parent)
select percentile_disc(0.5) within group (order by steps) as steps from latest
""")


async def load_usage_medians(db: Database, model: str) -> UsageMedians:
    """Return the medians of roles in jobs with this model, and of tools and agents in any job.

    Work that never happened has no entry.
    """
    async with db.reading() as connection:
        roles = (await connection.execute(_ROLES, {"model": model})).all()
        tools = (await connection.execute(_TOOLS)).all()
        steps = (await connection.execute(_STEPS)).scalar()
    return UsageMedians(
        roles={
            row.role: RoleMedians(
                input_tokens=row.input_tokens,
                output_tokens=row.output_tokens,
                seen=row.seen,
                seconds=row.seconds,
            )
            for row in roles
        },
        tools={row.tool: row.seconds for row in tools},
        steps=steps,
    )
