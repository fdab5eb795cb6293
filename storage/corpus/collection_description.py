"""Describe a collection in one line, for the prompts of those who search it."""

from sqlalchemy import Select, func, select

from holdfast.storage.core.database import Database
from holdfast.storage.core.tables.corpus_tables import documents, passages

_FEW_DOCUMENTS = 12
_LONGEST_TITLE = 80


async def document_count(db: Database, collection: str) -> int:
    """Return how many documents the collection has."""
    async with db.reading() as connection:
        return int((await connection.execute(_count_documents(collection))).scalar_one())


async def collection_in_words(db: Database, collection: str) -> str:
    """Return how many documents and passages the collection has, and the titles if they are few.

    Empty for a collection without documents: the agent may have other tools.
    """
    if not collection:
        return ""
    parts = select(func.count()).select_from(passages).where(passages.c.collection == collection)
    names = (
        select(documents.c.title)
        .where(documents.c.collection == collection)
        .order_by(documents.c.address)
        .limit(_FEW_DOCUMENTS)
    )
    async with db.reading() as connection:
        total = int((await connection.execute(_count_documents(collection))).scalar_one())
        pieces = int((await connection.execute(parts)).scalar_one())
        titles = (await connection.execute(names)).scalars().all() if total else []
    if not total:
        return ""
    sizes = f"{_number(total, 'document')}, {_number(pieces, 'passage')}"
    if total > _FEW_DOCUMENTS:
        return sizes
    return f"{sizes}: {'; '.join(title[:_LONGEST_TITLE] for title in titles)}"


def _count_documents(collection: str) -> Select[int]:
    return select(func.count()).select_from(documents).where(documents.c.collection == collection)


def _number(count: int, thing: str) -> str:
    return f"{count} {thing}{'' if count == 1 else 's'}"
