"""Describe a collection in one line, for the prompts of those who search it (MOD-09)."""

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import text

from holdfast.models.text.storable_text import storable_text
from holdfast.storage.core.database import Database

_FEW_DOCUMENTS = 12
_FEW_KINDS = 4
_LONGEST_TITLE = 80

_COUNT = text("select count(*) from documents where collection = :collection")
_PASSAGES = text("select count(*) from passages where collection = :collection")
_TITLES = text("""
select title from documents where collection = :collection order by address limit :few
""")
_KINDS = text("""
select metadata ->> 'kind' as kind, count(*) as documents from documents
where collection = :collection and metadata ->> 'kind' is not null
group by kind order by documents desc, kind
""")
# Where a document states no date, `date` is the day of the file's last change, which says nothing
# of its contents. What is written into a document may be no date at all.
_DATES = text("""
select count(*) as documents, min(metadata ->> 'date') as first, max(metadata ->> 'date') as last
from documents where collection = :collection
    and metadata ->> 'date' ~ '^[0-9]{4}(-[0-9]{2}){0,2}$'
    and metadata ->> 'date' is distinct from metadata ->> 'modified'
""")


class _Dates(NamedTuple):
    documents: int
    first: str | None
    last: str | None


async def document_count(db: Database, collection: str) -> int:
    """Return how many documents the collection has."""
    async with db.reading() as connection:
        name = {"collection": storable_text(collection)}
        return int((await connection.execute(_COUNT, name)).scalar_one())


async def collection_in_words(db: Database, collection: str) -> str:
    """Return what the collection has: documents by kind, passages, dates, and a few titles.

    The dates are those that documents state; titles are given for twelve documents at most.
    Empty for a collection without documents: the agent may have other tools.
    """
    if not collection or not (total := await document_count(db, collection)):
        return ""
    name = {"collection": storable_text(collection)}
    async with db.reading() as connection:
        pieces = int((await connection.execute(_PASSAGES, name)).scalar_one())
        kinds = [
            (str(row.kind), int(row.documents)) for row in await connection.execute(_KINDS, name)
        ]
        dates = _Dates(*(await connection.execute(_DATES, name)).one())
        asked = {**name, "few": _FEW_DOCUMENTS}
        titles = (await connection.execute(_TITLES, asked)).scalars().all()
    parts = (
        f"{_number(total, 'document')}{_kinds_in_words(kinds)}",
        _number(pieces, "passage"),
        *_dates_in_words(dates),
    )
    sizes = ", ".join(parts)
    if total > _FEW_DOCUMENTS:
        return sizes
    return f"{sizes}: {'; '.join(title[:_LONGEST_TITLE] for title in titles)}"


def _kinds_in_words(kinds: Sequence[tuple[str, int]]) -> str:
    """Return the kinds in brackets, with their numbers if there are several; the rarest go."""
    if len(kinds) < 2:
        return "".join(f" ({kind})" for kind, _ in kinds)
    shown = [f"{count} {kind}" for kind, count in kinds[:_FEW_KINDS]]
    return f" ({', '.join([*shown, *(['others'] if len(kinds) > _FEW_KINDS else [])])})"


def _dates_in_words(dates: _Dates) -> tuple[str, ...]:
    """Return the range of the stated dates as the only part; empty if no document states one."""
    if not dates.documents:
        return ()
    span = dates.first if dates.first == dates.last else f"{dates.first} to {dates.last}"
    return (f"{_number(dates.documents, 'document')} dated {span}",)


def _number(count: int, thing: str) -> str:
    return f"{count} {thing}{'' if count == 1 else 's'}"
