"""Say what takes how much of the disk, for `holdfast doctor`."""

import asyncio
from pathlib import Path

from holdfast.models.errors import HoldfastError
from holdfast.services import service_discovery
from holdfast.services.checks.check_outcome import CheckOutcome
from holdfast.services.servers.postgres_files import data_folder
from holdfast.services.service_state import load_state
from holdfast.settings import Endpoints, Settings

_TABLES_SHOWN = 4


async def check_disk(settings: Settings, endpoints: Endpoints | None) -> CheckOutcome:
    """Return the sizes of the home's parts and, if PostgreSQL answers, of its largest tables."""
    if not settings.home.is_dir():
        return CheckOutcome(None, f"{settings.home} does not exist yet")
    sizes = await asyncio.to_thread(_home_parts, settings.home)
    parts = [f"{name} {_megabytes(size)}" for name, size in sizes.items()]
    whole = _megabytes(sum(sizes.values()))
    tables = await _tables(settings, endpoints)
    named = ", ".join(f"{name} {_megabytes(size)}" for name, size in tables)
    largest = f"; largest tables: {named}" if named else ""
    return CheckOutcome(True, f"the home takes {whole}: {', '.join(parts)}{largest}")


def _home_parts(home: Path) -> dict[str, int]:
    """Return the bytes of each part of the home; together they are the whole home."""
    cluster = data_folder(home)
    wal = _bytes_below(cluster / "pg_wal")
    temporal = sum(_bytes_below(file) for file in home.glob("temporal.db*"))
    logs = _bytes_below(home / "logs")
    database = _bytes_below(cluster) - wal
    others = max(0, _bytes_below(home) - database - wal - temporal - logs)
    return {
        "PostgreSQL": database,
        "its write-ahead log": wal,
        "Temporal": temporal,
        "logs": logs,
        "other files": others,
    }


def _bytes_below(path: Path) -> int:
    """Return the bytes on the disk of a file, or of all files in a folder; links count nothing."""
    if path.is_symlink():
        return 0
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(_file_bytes(file) for file in files)


def _file_bytes(file: Path) -> int:
    try:
        found = file.lstat()
    except OSError:  # PostgreSQL has just removed it
        return 0
    return found.st_blocks * 512


async def _tables(settings: Settings, endpoints: Endpoints | None) -> tuple[tuple[str, int], ...]:
    state = load_state(settings.home)
    if endpoints is None or not service_discovery.is_postgres_running(settings, state):
        return ()
    from holdfast.storage.core.database import Database
    from holdfast.storage.core.table_sizes import largest_tables

    db = Database(endpoints.database_url, pool_size=1)
    try:
        return await largest_tables(db, _TABLES_SHOWN)
    except HoldfastError:
        return ()  # the check of the database says why
    finally:
        await db.close()


def _megabytes(size_bytes: int) -> str:
    return f"{size_bytes / 10**6:,.1f} MB"
