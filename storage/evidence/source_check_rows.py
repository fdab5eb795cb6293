"""Store the results of reading sources again, and load the newest check of each evidence."""

from collections.abc import Mapping, Sequence

from sqlalchemy import insert, select
from sqlalchemy.dialects.postgresql import distinct_on

from holdfast.models.evidence.evidence import Report
from holdfast.models.evidence.source_checks import SourceCheck, SourceDrift, StoredSourceCheck
from holdfast.storage.core.database import Database
from holdfast.storage.core.tables.evidence_tables import source_checks


async def keep_source_checks(db: Database, checks: Sequence[SourceCheck]) -> None:
    """Store the results of reading sources again, with the present time."""
    rows = [each.model_dump(mode="json") for each in checks]
    if rows:
        async with db.writing() as connection:
            await connection.execute(insert(source_checks), rows)


async def latest_source_checks(
    db: Database, evidence_ids: Sequence[int]
) -> Mapping[int, StoredSourceCheck]:
    """Return the newest check of each evidence; an unreadable one only if there is no other."""
    kept = source_checks.c
    query = (
        select(kept.evidence_id, kept.checked_at, kept.verdict, kept.note, kept.nearest_text)
        .ext(distinct_on(kept.evidence_id))
        .where(kept.evidence_id.in_(evidence_ids))
        .order_by(kept.evidence_id, kept.verdict == SourceDrift.UNREADABLE.value, kept.id.desc())
    )
    async with db.reading() as connection:
        rows = (await connection.execute(query)).mappings().all()
    return {row["evidence_id"]: StoredSourceCheck.model_validate(dict(row)) for row in rows}


def drift_warnings(report: Report, checks: Mapping[int, StoredSourceCheck]) -> tuple[str, ...]:
    """Return a warning for each citation whose quote is not at its place any more."""
    return tuple(
        f"the words of mark {mark} were {_DRIFT_WORDS[found.verdict]} "
        f"when their source was read again on {found.checked_at:%Y-%m-%d}"
        for mark, found in ((each.mark, checks.get(each.evidence_id)) for each in report.citations)
        if found is not None and found.verdict in _DRIFT_WORDS
    )


_DRIFT_WORDS = {SourceDrift.CHANGED: "changed", SourceDrift.GONE: "gone"}
