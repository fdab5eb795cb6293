"""Upgrade a database to the newest schema under a lock, so that many workers migrate it once."""

import os
import sys
from pathlib import Path

import psycopg
import structlog
from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, create_engine, text
from sqlalchemy.exc import ArgumentError, OperationalError

from holdfast.models.errors import BadConfiguration, BadInput, HoldfastError, StorageAway
from holdfast.storage.core.connection_pooler import WITHOUT_PREPARING
from holdfast.storage.core.owner_role import OwnerRole, prepare_owner_role, read_owner_role

MIGRATIONS = Path(__file__).parents[2] / "migrations"
"""The folder from which Alembic takes its environment and the versions of the schema."""
_LOCK = 0x686F6C64  # "hold": any number that nobody else uses in this database

log = structlog.get_logger(__name__)


def migrate_schema(
    database_url: str, revision: str = "head", *, allows_newer: bool = True
) -> OwnerRole | None:
    """Upgrade (or downgrade) to `revision`; a second caller waits, then finds nothing to do.

    The schema of a newer release stays as it is: its migrations add to what this release knows, and
    in a rolling release both run. Returns the role of owners as it is then; None after a downgrade
    or an upgrade on the way. With a newer schema the role is only read.

    Raises:
        BadInput: this release does not know the schema's revision, and `allows_newer` is false.
        StorageAway: PostgreSQL does not answer.
        BadConfiguration: the address is not one of a database.
    """
    try:
        engine = create_engine(database_url, connect_args=WITHOUT_PREPARING)
    except ArgumentError as error:
        # Not the address itself: it may hold a password.
        message = "HOLDFAST_DATABASE_URL is not an address like postgresql://user@host/database"
        raise BadConfiguration(message) from error
    try:
        # The lock belongs to a transaction of its own, which the migrations' commits do not end: a
        # lock of a session would be shared by strangers behind PgBouncer.
        with engine.begin() as holder, engine.connect() as connection:
            holder.execute(text("select pg_advisory_xact_lock(:key)"), {"key": _LOCK})
            config = _config()
            if revision == "head" and (unknown := _unknown_revision(connection, config)):
                if not allows_newer:
                    raise BadInput(
                        f"the schema is at revision {unknown}, which this release does not know "
                        f"(its newest is {newest_schema_version()}); use the release that made it"
                    )
                log.warning("schema.newer", revision=unknown, newest_known=newest_schema_version())
                return _read_role(connection)
            config.attributes["connection"] = connection
            step = command.downgrade if revision == "base" else command.upgrade
            step(config, revision)
            if revision != "head":
                return None
            # Not a migration: a restored or copied database has the tables without the role.
            connection.commit()
            role = prepare_owner_role(connection)
            connection.commit()
            return role
    except OperationalError as error:
        raise StorageAway(f"PostgreSQL does not answer: {error.orig}") from error
    finally:
        engine.dispose()


def _unknown_revision(connection: Connection, config: Config) -> str:
    """Return the schema's revision if this release does not have it, as a newer one; else ``."""
    known = {each.revision for each in ScriptDirectory.from_config(config).walk_revisions()}
    at = _revision(connection)
    return at if at not in known else ""


def _revision(connection: Connection) -> str:
    """Return the schema's revision; empty without a schema."""
    at = MigrationContext.configure(connection).get_current_revision()
    connection.rollback()
    return at or ""


def _read_role(connection: Connection) -> OwnerRole:
    driver = connection.connection.driver_connection
    assert isinstance(driver, psycopg.Connection), "psycopg is the driver of every engine"
    return read_owner_role(driver)


def newest_schema_version() -> str:
    """Return the newest schema revision of this code."""
    return str(ScriptDirectory.from_config(_config()).get_current_head())


def stored_schema_version(database_url: str) -> str:
    """Return the schema revision of the database; empty without a schema."""
    engine = create_engine(database_url, connect_args=WITHOUT_PREPARING)
    try:
        with engine.connect() as connection:
            return _revision(connection)
    except OperationalError as error:
        raise StorageAway(f"PostgreSQL does not answer: {error.orig}") from error
    finally:
        engine.dispose()


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    return config


def main() -> int:
    """`python -m holdfast.storage.core.schema_migration`: the migration job of docker-compose."""
    try:
        role, revision = _migrate_named_database()
    except HoldfastError as error:
        sys.stderr.write(f"error: {error}\n")
        return 2 if isinstance(error, BadConfiguration) else 1
    if role is not None and role.fault:
        sys.stderr.write(
            f"warning: {role.fault}: PostgreSQL does not hide the rows of owners from one another,"
            f" only the queries do; {role.remedy}\n"
        )
    sys.stdout.write(f"database is at revision {revision}\n")
    return 0


def _migrate_named_database() -> tuple[OwnerRole | None, str]:
    url = os.environ.get("HOLDFAST_DATABASE_URL")
    if not url:
        raise BadConfiguration("set HOLDFAST_DATABASE_URL to the database that is to be migrated")
    url = url.replace("postgresql://", "postgresql+psycopg://", 1)
    return migrate_schema(url), stored_schema_version(url)


if __name__ == "__main__":
    sys.exit(main())
