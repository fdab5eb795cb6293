"""Entity memory: what finished tasks found, and the JSON document of KPI-Chain's Listing 2."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pydantic import JsonValue
from sqlalchemy import select
from sqlalchemy.dialects.postgresql import insert as upsert

from models.plan import Expected
from models.tables import entities
from planning.kpis import Candidate
from storage.database import Database, JobWrite


async def remember(
    write: JobWrite, task_id: str, expects: Sequence[Expected], kept: Iterable[Candidate]
) -> None:
    """Store a finished task's entities; a failed task stores none."""
    declared = {entity.name: entity for entity in expects}
    rows = [_row(write.job_id, task_id, declared.get(each.name), each) for each in kept]
    if rows:
        await write.connection.execute(upsert(entities).on_conflict_do_nothing(), rows)


def _row(
    job_id: str, task_id: str, entity: Expected | None, candidate: Candidate
) -> dict[str, Any]:
    return {
        "job_id": job_id,
        "task_id": task_id,
        "name": candidate.name,
        "type": entity.type.value if entity else "string",
        "description": entity.description if entity else "",
        "value": candidate.value,
        "confidence": min(max(candidate.confidence, 0.0), 1.0),
    }


async def recall(
    db: Database, job_id: str, task_ids: Iterable[str]
) -> Mapping[str, Mapping[str, JsonValue]]:
    """The entities of the named tasks: `{"T1": {"actress_name": "..."}}`."""
    query = select(entities.c.task_id, entities.c.name, entities.c.value).where(
        entities.c.job_id == job_id, entities.c.task_id.in_(list(task_ids))
    )
    async with db.reading() as connection:
        rows = (await connection.execute(query.order_by(entities.c.task_id))).all()
    memory: dict[str, dict[str, JsonValue]] = {}
    for row in rows:
        memory.setdefault(row.task_id, {})[row.name] = row.value
    return memory
