"""Load what the values mean that a reasoning task takes from other tasks, and how sure they are."""

from collections.abc import Collection, Mapping

from sqlalchemy import select

from holdfast.models.tasks.attempt_results import EntityValue
from holdfast.storage.core.database import Database
from holdfast.storage.core.tables.evidence_tables import entities

_NAMES = tuple(EntityValue.model_fields)


async def values_of_tasks(
    db: Database, job_id: str, names: Collection[str]
) -> Mapping[str, Mapping[str, EntityValue]]:
    """Return the entities of these tasks by task and name."""
    query = select(entities.c.task_id, *(entities.c[name] for name in _NAMES)).where(
        entities.c.job_id == job_id, entities.c.task_id.in_(names)
    )
    async with db.reading() as connection:
        rows = (await connection.execute(query)).mappings().all()
    found: dict[str, dict[str, EntityValue]] = {}
    for row in rows:
        entity = EntityValue.model_validate({name: row[name] for name in _NAMES})
        found.setdefault(row["task_id"], {})[entity.name] = entity
    return found
