"""Load the spans in which ended jobs lay idle until they were opened again."""

from collections.abc import Iterable

from sqlalchemy import ARRAY, Text, bindparam, text

from holdfast.models.jobs.idle_span import IdleSpan
from holdfast.models.jobs.job_record import Job
from holdfast.models.wire.event_kinds import EventKind
from holdfast.storage.core.database import Database

_OPENINGS = (EventKind.JOB_RESUMED, EventKind.JOB_RETRIED, EventKind.JOB_REOPENED)
_SPANS = text("""
select job_id, ended_at, reopened_at from (
    select job_id, kind, at as ended_at,
        lead(at) over (partition by job_id order by seq) as reopened_at
    from events where job_id = any(:jobs) and kind = any(:kinds)) as turns
where kind = :ended and reopened_at is not null
order by job_id, ended_at
""").bindparams(bindparam("jobs", type_=ARRAY(Text)), bindparam("kinds", type_=ARRAY(Text)))


async def load_idle_spans(db: Database, jobs: Iterable[Job]) -> dict[str, tuple[IdleSpan, ...]]:
    """Return the idle spans of each job that was opened again, in their order."""
    reopened = [job.id for job in jobs if job.attempt > 1]
    if not reopened:
        return {}
    kinds = [EventKind.JOB_ENDED.value, *(kind.value for kind in _OPENINGS)]
    asked = {"jobs": reopened, "kinds": kinds, "ended": EventKind.JOB_ENDED.value}
    found: dict[str, tuple[IdleSpan, ...]] = {}
    async with db.reading() as connection:
        for row in (await connection.execute(_SPANS, asked)).all():
            span = IdleSpan(row.ended_at, row.reopened_at)
            found[row.job_id] = (*found.get(row.job_id, ()), span)
    return found
