"""Remove the sources that no job needs any more."""

from collections.abc import Collection
from typing import Any, NamedTuple

from sqlalchemy import BigInteger, CursorResult, any_, delete, literal, or_, select, union
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.ext.asyncio import AsyncConnection

from holdfast.storage.core.tables.evidence_tables import evidence, sources
from holdfast.storage.core.tables.loop_tables import loop_passages


class RemovedSources(NamedTuple):
    """How many sources were removed, and how many other jobs still need."""

    removed: int
    shared: int


async def sources_of_job(connection: AsyncConnection, job_id: str) -> set[int]:
    """Return the ids of the sources that the job quotes, or that its agents read."""
    query = union(
        select(evidence.c.source_id).where(evidence.c.job_id == job_id),
        select(loop_passages.c.source_id).where(loop_passages.c.job_id == job_id),
    )
    return set((await connection.execute(query)).scalars())


async def remove_unused_sources(
    connection: AsyncConnection, ids: Collection[int]
) -> RemovedSources:
    """Remove those of the sources that no job quotes or has read."""
    # One parameter: a job may have read more sources than a statement takes parameters.
    among = sources.c.id == any_(literal(list(ids), ARRAY(BigInteger)))
    is_used = or_(
        select(evidence.c.id).where(evidence.c.source_id == sources.c.id).exists(),
        select(loop_passages.c.job_id).where(loop_passages.c.source_id == sources.c.id).exists(),
    )
    # A running job that is about to quote a source holds its row: such a source is needed. The
    # statement after the lock sees what was stored before the lock.
    free = select(sources.c.id).where(among).with_for_update(skip_locked=True)
    locked = list((await connection.execute(free)).scalars())
    of_these = sources.c.id == any_(literal(locked, ARRAY(BigInteger)))
    gone: CursorResult[Any] = await connection.execute(delete(sources).where(of_these, ~is_used))
    return RemovedSources(gone.rowcount, len(ids) - gone.rowcount)
