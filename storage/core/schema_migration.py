"""Upgrade a database to the newest schema under a lock, so that many workers migrate it once."""

import os
import sys
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, create_engine, text
from sqlalchemy.exc import ArgumentError, OperationalError

from holdfast.models.errors import BadConfiguration, HoldfastError, StorageAway
from holdfast.storage.core.connection_pooler import WITHOUT_PREPARING
from holdfast.storage.core.owner_role import OwnerRole, prepare_owner_role

MIGRATIONS = Path(__file__).parents[2] / "migrations"
"""The folder from which Alembic takes its environment and the versions of the schema."""
_LOCK = 0x686F6C64  # "hold": any number that nobody else uses in this database


def migrate_schema(database_url: str, revision: str = "head") -> OwnerRole | None:
    """Upgrade (or downgrade) to `revision`; a second caller waits, then finds nothing to do.

    The schema of a newer release stays as it is: its migrations add to what this release knows, and
    in a rolling release both run. Returns the role of owners as it is then; None after a downgrade,
    an upgrade on the way, or with a newer schema.

    Raises:
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
            if revision == "head" and _is_newer(connection, config):
                return None
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


def _is_newer(connection: Connection, config: Config) -> bool:
    """True if a release that has more migrations than this one has migrated the database."""
    known = {each.revision for each in ScriptDirectory.from_config(config).walk_revisions()}
    at = MigrationContext.configure(connection).get_current_revision()
    connection.rollback()
    return at is not None and at not in known


def newest_schema_version() -> str:
    """Return the newest schema revision of this code."""
    return str(ScriptDirectory.from_config(_config()).get_current_head())


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    return config


def main() -> int:
    """`python -m holdfast.storage.core.schema_migration`: the migration job of docker-compose."""
    try:
        role = _migrate_named_database()
    except HoldfastError as error:
        sys.stderr.write(f"error: {error}\n")
        return 2 if isinstance(error, BadConfiguration) else 1
    if role is not None and role.fault:
        sys.stderr.write(
            f"warning: {role.fault}: PostgreSQL does not hide the rows of owners from one another,"
            f" only the queries do; {role.remedy}\n"
        )
    sys.stdout.write(f"database is at revision {newest_schema_version()}, or newer\n")
    return 0


def _migrate_named_database() -> OwnerRole | None:
    url = os.environ.get("HOLDFAST_DATABASE_URL")
    if not url:
        raise BadConfiguration("set HOLDFAST_DATABASE_URL to the database that is to be migrated")
    return migrate_schema(url.replace("postgresql://", "postgresql+psycopg://", 1))


if __name__ == "__main__":
    sys.exit(main())
