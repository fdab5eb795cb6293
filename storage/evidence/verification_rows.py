"""Store and load verification rounds: the verdict on each result, and the stop log."""

from collections.abc import Sequence

from sqlalchemy import insert, select, update

from holdfast.models.verification.verification_verdicts import (
    StopCondition,
    StopLogEntry,
    Verification,
)
from holdfast.storage.core.database import Database, JobTransaction
from holdfast.storage.core.tables.plan_tables import tasks
from holdfast.storage.core.tables.verification_tables import stop_log, verifications

_VERDICT = tuple(Verification.model_fields)
_CHECK = tuple(StopLogEntry.model_fields)


async def verification_rounds_of(db: Database, job_id: str) -> list[StopLogEntry]:
    """Return one stop log entry per verification round, oldest first."""
    query = (
        select(*(stop_log.c[name] for name in _CHECK))
        .where(stop_log.c.job_id == job_id)
        .order_by(stop_log.c.round)
    )
    async with db.reading() as connection:
        rows = (await connection.execute(query)).mappings().all()
    return [StopLogEntry.model_validate(dict(row)) for row in rows]


async def verdicts_of(db: Database, job_id: str) -> dict[int, tuple[Verification, ...]]:
    """Return the verdicts by round, each in order of the plan."""
    query = (
        select(verifications.c.round, *(verifications.c[name] for name in _VERDICT))
        .join(
            tasks,
            (tasks.c.job_id == verifications.c.job_id) & (tasks.c.id == verifications.c.task_id),
        )
        .where(verifications.c.job_id == job_id)
        .order_by(verifications.c.round, tasks.c.position)
    )
    async with db.reading() as connection:
        rows = (await connection.execute(query)).mappings().all()
    found: dict[int, tuple[Verification, ...]] = {}
    for row in rows:
        content = dict(row)
        number = int(content.pop("round"))
        verdict = Verification.model_validate(content)
        found[number] = (*found.get(number, ()), verdict)
    return found


async def keep_round(
    write: JobTransaction, verdicts: Sequence[Verification], check: StopLogEntry
) -> None:
    """Store the verdicts of a round and its entry in the stop log."""
    place = {"job_id": write.job_id, "round": check.round}
    rows = [place | each.model_dump(mode="json") for each in verdicts]
    if rows:
        await write.connection.execute(insert(verifications), rows)
    line = check.model_dump(mode="json") | {"job_id": write.job_id}
    await write.connection.execute(insert(stop_log).values(line))


async def close_round(write: JobTransaction, round_: int, fired: StopCondition | None) -> None:
    """Record that the gaps of a round have been planned; `fired` if there was nothing to do."""
    values: dict[str, object] = {"is_filled": True}
    if fired is not None:
        values["fired"] = fired.value
    await write.connection.execute(
        update(stop_log)
        .where(stop_log.c.job_id == write.job_id, stop_log.c.round == round_)
        .values(values)
    )
