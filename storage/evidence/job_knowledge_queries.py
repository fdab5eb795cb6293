"""Find values and passages of a job that may answer a question of one of its agents."""

from sqlalchemy import func, select, text

from holdfast.models.frozen_model import Frozen
from holdfast.models.plans.research_plan import TaskStatus
from holdfast.models.tasks.attempt_results import EntityValue
from holdfast.models.text.terminal_text import shorten_text
from holdfast.storage.core.database import Database
from holdfast.storage.core.tables.evidence_tables import entities
from holdfast.storage.core.tables.job_tables import receipts
from holdfast.storage.core.tables.plan_tables import tasks

_MOST_VALUES = 80
_MOST_CHARACTERS = 2000
"""The maximum length of a question text in the search."""
_PASSAGE = 1500

# Any word of the question counts; more and rarer words in a shorter text rank higher.
_PASSAGES_ABOUT = text("""
with words as (
    select cast(string_agg(quote_literal(lexeme), ' | ') as tsquery) as query
    from unnest(to_tsvector('english', :question)) where strpos(lexeme, '\\') = 0),
read as (
    select distinct on (sources.id) evidence.id, sources.title, sources.heading, sources.text,
        to_tsvector('english', concat_ws(' ', title, heading, text)) as tsv
    from evidence join sources on sources.id = evidence.source_id
    where evidence.job_id = :job_id and evidence.status = 'active'
    order by sources.id, evidence.id)
select id, title, heading, text from read, words where tsv @@ query
order by ts_rank_cd(tsv, query, 32) desc, id limit :limit
""")


class KnownPassage(Frozen):
    """A passage that supports a result of the job; `id` is the id of its evidence."""

    id: int
    title: str
    heading: str
    text: str


async def values_of_other_tasks(
    db: Database, job_id: str, task_id: str
) -> list[tuple[str, EntityValue]]:
    """Return the values of the plan's other finished tasks, the latest first.

    Steps are left out: their results are in their agent's result.
    """
    query = (
        select(entities.c.task_id, *(entities.c[name] for name in EntityValue.model_fields))
        .join(tasks, (tasks.c.job_id == entities.c.job_id) & (tasks.c.id == entities.c.task_id))
        .where(entities.c.job_id == job_id, tasks.c.status == TaskStatus.DONE.value)
        .where(tasks.c.id != task_id, tasks.c.parent == "")
        .order_by(tasks.c.position.desc(), entities.c.name)
        .limit(_MOST_VALUES)
    )
    async with db.reading() as connection:
        rows = (await connection.execute(query)).mappings().all()
    return [
        (row["task_id"], EntityValue.model_validate({n: row[n] for n in EntityValue.model_fields}))
        for row in rows
        if row["value"] is not None
    ]


async def passages_about(
    db: Database, job_id: str, question: str, limit: int
) -> list[KnownPassage]:
    """Return the passages of the job's evidence that match the question, best first."""
    given = {"job_id": job_id, "question": question[:_MOST_CHARACTERS], "limit": limit}
    async with db.reading() as connection:
        rows = (await connection.execute(_PASSAGES_ABOUT, given)).all()
    return [
        KnownPassage(
            id=row.id, title=row.title, heading=row.heading, text=shorten_text(row.text, _PASSAGE)
        )
        for row in rows
    ]


async def receipts_with_prefix(db: Database, job_id: str, prefix: str) -> list[dict[str, object]]:
    """Return the receipts with this key prefix, in the order of their keys."""
    query = (
        select(receipts.c.body)
        .where(receipts.c.job_id == job_id, receipts.c.key.startswith(prefix, autoescape=True))
        .order_by(func.length(receipts.c.key), receipts.c.key)
    )
    async with db.reading() as connection:
        return list((await connection.execute(query)).scalars())
