"""What work usually takes here: medians of the installation's own calls."""

from sqlalchemy import text

from models.estimates import Typical, TypicalCall
from storage.database import Database

# The name that was asked for is the job's: an endpoint may answer under a longer one.
_ROLES = text("""
with latest as (
    select role, input_tokens, output_tokens,
        extract(epoch from llm_calls.finished_at - llm_calls.started_at)::float8 as seconds
    from llm_calls join jobs on jobs.id = job_id
    where jobs.model = :model and llm_calls.status = 'done' order by llm_calls.id desc limit 2000)
select role, count(*) as seen,
       percentile_disc(0.5) within group (order by input_tokens) as input_tokens,
       percentile_disc(0.5) within group (order by output_tokens) as output_tokens,
       percentile_disc(0.5) within group (order by seconds) as seconds
from latest group by role
""")
_TOOLS = text("""
with latest as (
    select tool, extract(epoch from finished_at - started_at)::float8 as seconds from tool_calls
    where status = 'done' and repeats is null order by id desc limit 2000)
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


async def typical_work(db: Database, model: str) -> Typical:
    """What roles take in jobs with this model, and tools and agents in any.

    What never happened is not in it.
    """
    async with db.reading() as connection:
        roles = (await connection.execute(_ROLES, {"model": model})).all()
        tools = (await connection.execute(_TOOLS)).all()
        steps = (await connection.execute(_STEPS)).scalar()
    return Typical(
        roles={
            row.role: TypicalCall(
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
