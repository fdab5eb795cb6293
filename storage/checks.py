"""Looks at sources that were read before: each is kept, the newest that found something counts."""

from collections.abc import Mapping, Sequence

from sqlalchemy import insert, select
from sqlalchemy.dialects.postgresql import distinct_on

from models.checks import Drift, KeptCheck, SourceCheck
from models.evidence import Report
from models.tables import source_checks
from storage.database import Database


async def keep_checks(db: Database, checks: Sequence[SourceCheck]) -> None:
    """Store what a look came to, with the time of now."""
    rows = [each.model_dump(mode="json") for each in checks]
    if rows:
        async with db.writing() as connection:
            await connection.execute(insert(source_checks), rows)


async def checks_of(db: Database, evidence_ids: Sequence[int]) -> Mapping[int, KeptCheck]:
    """The newest look by evidence; one that could read nothing counts where there is no other."""
    kept = source_checks.c
    query = (
        select(kept.evidence_id, kept.checked_at, kept.verdict, kept.note, kept.nearest)
        .ext(distinct_on(kept.evidence_id))
        .where(kept.evidence_id.in_(evidence_ids))
        .order_by(kept.evidence_id, kept.verdict == Drift.UNREADABLE.value, kept.id.desc())
    )
    async with db.reading() as connection:
        rows = (await connection.execute(query)).mappings().all()
    return {row["evidence_id"]: KeptCheck.model_validate(dict(row)) for row in rows}


def drift(report: Report, checks: Mapping[int, KeptCheck]) -> tuple[str, ...]:
    """What a reader is warned of: cited words that are not where they were read any more."""
    return tuple(
        f"the words of mark {mark} were {_WORDS[found.verdict]} when their source was read again "
        f"on {found.checked_at:%Y-%m-%d}"
        for mark, found in ((each.mark, checks.get(each.evidence_id)) for each in report.citations)
        if found is not None and found.verdict in _WORDS
    )


_WORDS = {Drift.CHANGED: "changed", Drift.GONE: "gone"}
