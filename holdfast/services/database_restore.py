"""Restore the embedded PostgreSQL of a home from a backup.

The backup is restored into a second database, which takes the place of the first one only when it
is complete: a restore that fails changes nothing. Temporal begins with an empty file, because its
workflows know of work that the backup does not have; a worker starts the open jobs again.
"""

import asyncio
from pathlib import Path
from typing import LiteralString

import psycopg

from holdfast.models.errors import BadInput
from holdfast.models.frozen_model import Frozen
from holdfast.models.jobs.job_record import FINAL_JOB_STATUSES
from holdfast.services.database_backup import check_backup, run_database_program
from holdfast.services.servers import postgres_server, temporal_file
from holdfast.services.servers.server_starts import StartupMessageCallback
from holdfast.services.service_lifecycle import start_services, stop_services
from holdfast.settings import Settings

_RESTORED, _REPLACED = "holdfast_restored", "holdfast_replaced"
_RENAME_TRIES = 20
"""A command that follows a job connects again at once; PostgreSQL itself waits 5 s for it."""


class RestoredJobs(Frozen):
    """The number of restored jobs, and of those that have not ended."""

    jobs: int
    open_jobs: int


async def restore_backup(
    settings: Settings, file: Path, say: StartupMessageCallback, *, replaces: bool = False
) -> RestoredJobs:
    """Restore the home's database from the file; return the number of its jobs.

    PostgreSQL and Temporal run afterwards, and no worker.

    Raises:
        BadInput: the file is no whole backup, or of a newer release, the home has jobs or
            collections and `replaces` is false, or PostgreSQL is a server of the user's own.
        ServiceDown: a service does not start or stop, or pg_restore failed.
    """
    if not (settings.uses_embedded_database and settings.uses_embedded_temporal):
        raise BadInput(
            "`holdfast restore` fills the embedded PostgreSQL only; restore a server of yours with "
            "pg_restore (docs/backup.md)"
        )
    await asyncio.to_thread(check_backup, file)
    await start_services(settings, say, worker=False)
    if not replaces:
        await asyncio.to_thread(_refuse_if_in_use, settings)
    say("stopping the services")
    await asyncio.to_thread(stop_services, settings)
    temporal_file.remove(settings.home)
    await start_services(settings, say, worker=False)
    say("restoring the database")
    return await asyncio.to_thread(_restore, settings.home, file)


def _refuse_if_in_use(settings: Settings) -> None:
    with psycopg.connect(postgres_server.plain_url(settings.home)) as connection:
        jobs = _count(connection, "select count(*) from jobs")
        documents = _count(connection, "select count(*) from documents")
    if jobs or documents:
        raise BadInput(
            f"{str(settings.home)!r} has {jobs} jobs and {documents} documents; `--replace` "
            "deletes them, or set HOLDFAST_HOME to a new folder"
        )


def _restore(home: Path, file: Path) -> RestoredJobs:
    from holdfast.storage.core.schema_migration import migrate_schema

    restored = postgres_server.plain_url(home, _RESTORED)
    _recreate(home)
    run_database_program(
        "pg_restore",
        "--no-owner",
        "--no-privileges",
        "--single-transaction",
        str(file),
        database_url=restored,
    )
    url = restored.replace("postgresql://", "postgresql+psycopg://", 1)
    # Only this release will read it: rolling releases do not share an embedded database.
    migrate_schema(url, allows_newer=False)
    with psycopg.connect(restored) as connection:
        jobs = _count(connection, "select count(*) from jobs")
        final = [status.value for status in FINAL_JOB_STATUSES]
        is_open = "select count(*) from jobs where not status = any(%s)"
        open_jobs = _count(connection, is_open, final)
    _swap(home)
    return RestoredJobs(jobs=jobs, open_jobs=open_jobs)


def _recreate(home: Path) -> None:
    """Create the empty second database; an interrupted restore may have left one."""
    with psycopg.connect(postgres_server.plain_url(home, "postgres"), autocommit=True) as server:
        for name in (_RESTORED, _REPLACED):
            server.execute(f"drop database if exists {name} with (force)")
        server.execute(f"create database {_RESTORED}")


def _swap(home: Path) -> None:
    """Give the second database the name of the first one, and drop the first one."""
    name = postgres_server.DATABASE
    with psycopg.connect(postgres_server.plain_url(home, "postgres"), autocommit=True) as server:
        for tries_left in reversed(range(_RENAME_TRIES)):
            try:
                _rename(server, name)
                break
            except psycopg.errors.ObjectInUse:
                if not tries_left:
                    raise
        server.execute(f"drop database {_REPLACED} with (force)")


def _rename(server: psycopg.Connection, name: LiteralString) -> None:
    """Exchange the databases, and end the connections of those who look at the first one."""
    server.execute(
        "select pg_terminate_backend(pid) from pg_stat_activity where datname = %s", [name]
    )
    # Both names change in one transaction, so a crash leaves a database of the right name.
    with server.transaction():
        server.execute(f"alter database {name} rename to {_REPLACED}")
        server.execute(f"alter database {_RESTORED} rename to {name}")


def _count(connection: psycopg.Connection, query: LiteralString, *values: object) -> int:
    row = connection.execute(query, values or None).fetchone()
    return int(row[0]) if row else 0
