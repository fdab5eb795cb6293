"""Load the spans in which ended jobs lay idle until they were opened again."""

from collections.abc import Iterable

from sqlalchemy import ARRAY, Text, bindparam, text

from holdfast.models.jobs.idle_span import IdleSpan
from holdfast.models.jobs.job_record import Job, StopReason
from holdfast.models.wire.event_kinds import EventKind
from holdfast.storage.core.database import Database

_TURNS = ", ".join(
    f"'{kind}'"
    for kind in (
        EventKind.JOB_ENDED,
        EventKind.JOB_RESUMED,
        EventKind.JOB_RETRIED,
        EventKind.JOB_REOPENED,
    )
)
_IDLE = f"""
select job_id, ended_at, reopened_at from (
    select job_id, kind, at as ended_at,
        lead(at) over (partition by job_id order by seq) as reopened_at
    from events where kind in ({_TURNS})) as turns
where kind = '{EventKind.JOB_ENDED}' and reopened_at is not null
"""  # noqa: S608 - constants
_SPANS = text(f"{_IDLE} and job_id = any(:jobs) order by job_id, ended_at").bindparams(
    bindparam("jobs", type_=ARRAY(Text))
)
IS_FIRST_END = f"""(attempt = 1 or 1 = (
    select count(*) from events where events.job_id = jobs.id and kind = '{EventKind.JOB_ENDED}'
        and facts ->> 'reason' <> '{StopReason.PLANNED}'))
"""  # noqa: S608 - constants
"""SQL: the job's end is its first; that of planning it alone does not count."""
OPEN_SECONDS = f"""extract(epoch from finished_at - created_at - case when attempt = 1
    then interval '0' else coalesce((
        select sum(reopened_at - ended_at) from ({_IDLE}) as idle where idle.job_id = jobs.id
    ), interval '0') end)::float8
"""  # noqa: S608 - constants
"""SQL: the seconds from submission to the job's end, without those in which it had ended."""


async def load_idle_spans(db: Database, jobs: Iterable[Job]) -> dict[str, tuple[IdleSpan, ...]]:
    """Return the idle spans of each job that was opened again, in their order."""
    reopened = [job.id for job in jobs if job.attempt > 1]
    if not reopened:
        return {}
    found: dict[str, tuple[IdleSpan, ...]] = {}
    async with db.reading() as connection:
        for row in (await connection.execute(_SPANS, {"jobs": reopened})).all():
            span = IdleSpan(row.ended_at, row.reopened_at)
            found[row.job_id] = (*found.get(row.job_id, ()), span)
    return found
