"""Say how much of the disk each table takes."""

from sqlalchemy import text

from holdfast.storage.core.database import Database

_LARGEST_TABLES = text("""
    select relname, pg_total_relation_size(relid) as size_bytes
    from pg_statio_user_tables order by size_bytes desc, relname limit :limit
""")


async def largest_tables(db: Database, limit: int) -> tuple[tuple[str, int], ...]:
    """Return the largest tables with their bytes, indexes and long values included."""
    async with db.reading() as connection:
        rows = (await connection.execute(_LARGEST_TABLES, {"limit": limit})).all()
    return tuple((row.relname, int(row.size_bytes)) for row in rows)
