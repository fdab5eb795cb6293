"""The rounds of verification: the verdict on each result, and the stop ledger."""

from collections.abc import Sequence

from sqlalchemy import insert, select, update

from models.tables import stop_checks, tasks, verifications
from models.verification import StopCheck, StopCondition, Verification
from storage.database import Database, JobWrite

_VERDICT = tuple(Verification.model_fields)
_CHECK = tuple(StopCheck.model_fields)


async def rounds_of(db: Database, job_id: str) -> list[StopCheck]:
    """The stop ledger, oldest round first."""
    query = (
        select(*(stop_checks.c[name] for name in _CHECK))
        .where(stop_checks.c.job_id == job_id)
        .order_by(stop_checks.c.iteration)
    )
    async with db.reading() as connection:
        rows = (await connection.execute(query)).mappings().all()
    return [StopCheck.model_validate(dict(row)) for row in rows]


async def verdicts_of(db: Database, job_id: str) -> dict[int, tuple[Verification, ...]]:
    """The verdicts by round, each in order of the plan."""
    query = (
        select(verifications.c.iteration, *(verifications.c[name] for name in _VERDICT))
        .join(
            tasks,
            (tasks.c.job_id == verifications.c.job_id) & (tasks.c.id == verifications.c.task_id),
        )
        .where(verifications.c.job_id == job_id)
        .order_by(verifications.c.iteration, tasks.c.position)
    )
    async with db.reading() as connection:
        rows = (await connection.execute(query)).mappings().all()
    found: dict[int, tuple[Verification, ...]] = {}
    for row in rows:
        content = dict(row)
        number = int(content.pop("iteration"))
        verdict = Verification.model_validate(content)
        found[number] = (*found.get(number, ()), verdict)
    return found


async def keep_round(write: JobWrite, verdicts: Sequence[Verification], check: StopCheck) -> None:
    """Store the verdicts of a round and its line of the stop ledger."""
    place = {"job_id": write.job_id, "iteration": check.iteration}
    rows = [place | each.model_dump(mode="json") for each in verdicts]
    if rows:
        await write.connection.execute(insert(verifications), rows)
    line = check.model_dump(mode="json") | {"job_id": write.job_id}
    await write.connection.execute(insert(stop_checks).values(line))


async def close_round(write: JobWrite, iteration: int, fired: StopCondition | None) -> None:
    """Record that the gaps of a round have been planned; `fired` where nothing could be done."""
    values: dict[str, object] = {"is_filled": True}
    if fired is not None:
        values["fired"] = fired.value
    await write.connection.execute(
        update(stop_checks)
        .where(stop_checks.c.job_id == write.job_id, stop_checks.c.iteration == iteration)
        .values(values)
    )
