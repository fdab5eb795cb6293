"""See whether a worker that Temporal has lost still waits for the reply of a call."""

from datetime import timedelta

from sqlalchemy import text

from holdfast.models.wire.call_places import CallPlaces
from holdfast.storage.core.client_sessions import session_name
from holdfast.storage.core.database import Database

SIGN_OF_LIFE_LASTS = timedelta(seconds=30)
"""Each worker runs a statement every five to ten seconds; a dead one's sessions end with it."""

# A reply that the endpoint makes in the background is fetched, and not sent again.
_UNDER_WAY = text("""
    select exists (
        select from pg_stat_activity
        where datname = current_database() and application_name = :session
            and greatest(query_start, state_change) > clock_timestamp() - :lasts
    ) and (
        exists (
            select from model_calls
            where job_id = :job_id and status = 'started' and response_id is null
                and (task_id = any(:exact)
                    or exists (
                        select from unnest(cast(:beginnings as text[])) as beginning
                        where starts_with(task_id, beginning))))
        or exists (
            select from tool_calls
            where job_id = :job_id and task_id = any(:exact) and status = 'started'))
""")


async def has_call_under_way(db: Database, job_id: str, places: CallPlaces, *, worker: str) -> bool:
    """True if a call at the places has no outcome, and this worker lives and may write it.

    Behind a pooler such as PgBouncer no session is the worker's for long, so it may be False there.

    Raises:
        StorageAway: PostgreSQL does not answer.
    """
    values = {
        "session": session_name(worker),
        "lasts": SIGN_OF_LIFE_LASTS,
        "job_id": job_id,
        "exact": list(places.exact),
        "beginnings": list(places.beginnings),
    }
    async with db.reading() as connection:
        return bool((await connection.execute(_UNDER_WAY, values)).scalar_one())


async def give_sign_of_life(db: Database) -> None:
    """Run a statement in a session of this worker.

    Raises:
        StorageAway: PostgreSQL does not answer.
    """
    async with db.reading() as connection:
        await connection.execute(text("select 1"))
