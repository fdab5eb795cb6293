"""What a job knows that may answer a question: found values, and passages it has read."""

from sqlalchemy import func, select, text

from models.base import Frozen
from models.plan import TaskStatus
from models.tables import entities, receipts, tasks
from models.text import shortened
from storage.database import Database

_MOST_VALUES = 80
_MOST_CHARACTERS = 2000
"""Of a question that is looked for."""
_PASSAGE = 1500

# Any word of the question; what has more and rarer ones in fewer words comes first.
_ABOUT = text("""
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


class KnownValue(Frozen):
    """A value that a task found."""

    task: str
    name: str
    description: str
    value: object


class KnownPassage(Frozen):
    """A passage that supports something the job found; `id` is of its evidence."""

    id: int
    title: str
    heading: str
    text: str


async def values_beside(db: Database, job_id: str, task_id: str) -> list[KnownValue]:
    """What the plan's other finished tasks found, the latest first.

    Not the steps of agents: what they came to is their agent's result.
    """
    query = (
        select(entities.c.task_id, entities.c.name, entities.c.description, entities.c.value)
        .join(tasks, (tasks.c.job_id == entities.c.job_id) & (tasks.c.id == entities.c.task_id))
        .where(entities.c.job_id == job_id, tasks.c.status == TaskStatus.DONE.value)
        .where(tasks.c.id != task_id, tasks.c.parent == "")
        .order_by(tasks.c.position.desc(), entities.c.name)
        .limit(_MOST_VALUES)
    )
    async with db.reading() as connection:
        rows = (await connection.execute(query)).all()
    return [
        KnownValue(task=row.task_id, name=row.name, description=row.description, value=row.value)
        for row in rows
        if row.value is not None
    ]


async def passages_about(
    db: Database, job_id: str, question: str, limit: int
) -> list[KnownPassage]:
    """The passages behind the job's evidence that have the question's words, the best first."""
    given = {"job_id": job_id, "question": question[:_MOST_CHARACTERS], "limit": limit}
    async with db.reading() as connection:
        rows = (await connection.execute(_ABOUT, given)).all()
    return [
        KnownPassage(
            id=row.id, title=row.title, heading=row.heading, text=shortened(row.text, _PASSAGE)
        )
        for row in rows
    ]


async def receipts_under(db: Database, job_id: str, prefix: str) -> list[dict[str, object]]:
    """The receipts whose keys begin so, in the order of the keys."""
    query = (
        select(receipts.c.body)
        .where(receipts.c.job_id == job_id, receipts.c.key.startswith(prefix, autoescape=True))
        .order_by(func.length(receipts.c.key), receipts.c.key)
    )
    async with db.reading() as connection:
        return list((await connection.execute(query)).scalars())
