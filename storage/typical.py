"""What calls usually take here: medians of the installation's own calls, by role."""

from sqlalchemy import text

from models.estimates import TypicalCall
from storage.database import Database

# The name that was asked for is the job's: an endpoint may answer under a longer one.
_TYPICAL = text("""
with latest as (
    select role, input_tokens, output_tokens from llm_calls join jobs on jobs.id = job_id
    where jobs.model = :model and llm_calls.status = 'done' order by llm_calls.id desc limit 2000)
select role, count(*) as seen,
       percentile_disc(0.5) within group (order by input_tokens) as input_tokens,
       percentile_disc(0.5) within group (order by output_tokens) as output_tokens
from latest group by role
""")


async def typical_calls(db: Database, model: str) -> dict[str, TypicalCall]:
    """By role, for jobs with this model; a role that never answered is not there."""
    async with db.reading() as connection:
        rows = (await connection.execute(_TYPICAL, {"model": model})).all()
    return {
        row.role: TypicalCall(
            input_tokens=row.input_tokens, output_tokens=row.output_tokens, seen=row.seen
        )
        for row in rows
    }
