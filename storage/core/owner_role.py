"""Let transactions on behalf of an owner run as a role that sees only the owner's rows.

Every table has row-level security (docs/decisions/0013). Workers, the command line and
administrators go on as the user of the connection, to whom the policies show every row.
"""

from typing import NamedTuple

import psycopg
from sqlalchemy import Connection, event, text
from sqlalchemy.exc import ProgrammingError
from sqlalchemy.ext.asyncio import AsyncEngine

_OWNER = "holdfast_owner"
"""The option of an engine that names the owner."""

# Roles belong to the whole server, so each database has one of its own, by the database's number.
# Who may only inherit a role's rights may not set it; before version 16 both were one.
_ROLE = """
select role.name,
    exists (select from pg_roles where rolname = role.name) as is_there,
    coalesce((select pg_has_role(current_user, oid,
        case when current_setting('server_version_num')::int >= 160000 then 'SET' else 'MEMBER' end)
        from pg_roles where rolname = role.name), false) as is_granted,
    coalesce((select has_table_privilege(oid, 'jobs', 'select') from pg_roles
        where rolname = role.name), false) as has_rights
from (select 'holdfast_owner_' || oid as name from pg_database
    where datname = current_database()) as role
"""
# One round trip; both settings end with the transaction, as behind PgBouncer they must.
ENTER_ROLE = f"""
select set_config('holdfast.owner', %(owner)s, true),
    case when is_granted and has_rights then set_config('role', name, true) end
from ({_ROLE}) as role
"""  # noqa: S608 - constants of this module
"""Lets the transaction go on as the role; `owner` is the owner's name."""
GRANT_TABLES = """
do $$ declare
    owner_role text := 'holdfast_owner_'
        || (select oid from pg_database where datname = current_database());
    lacking regclass;
begin
    if not exists (select from pg_roles where rolname = owner_role) then return; end if;
    for lacking in
        select oid from pg_class
        where relkind = 'r' and relrowsecurity and relnamespace = current_schema()::regnamespace
            and pg_has_role(relowner, 'usage')
            and not has_table_privilege(owner_role, oid, 'delete')
    loop
        execute format('grant select, insert, update, delete on %s to %I', lacking, owner_role);
    end loop;
    if not has_schema_privilege(owner_role, current_schema(), 'usage') then
        execute format('grant usage on schema %I to %I', current_schema(), owner_role);
    end if;
    -- Passages go through a temporary table; some servers take the right from everyone.
    if not has_database_privilege(owner_role, current_database(), 'temporary') then
        execute format('grant temporary on database %I to %I', current_database(), owner_role);
    end if;
end $$
"""
"""Grants the role, if it is there, the tables that have policies and that this user owns."""


class OwnerRole(NamedTuple):
    """The role of owners in this database."""

    name: str
    is_there: bool
    is_granted: bool
    """True if the user of the connection may act as the role."""
    has_rights: bool
    """True if the role may use the tables."""

    @property
    def fault(self) -> str:
        """Return what keeps requests from running as the role; empty: nothing."""
        if not self.is_there:
            return f"the role {self.name} is missing"
        if not self.is_granted:
            return f"this user may not act as the role {self.name}"
        return "" if self.has_rights else f"the role {self.name} may not use the tables"

    @property
    def remedy(self) -> str:
        """Return what an administrator of PostgreSQL does about the fault."""
        steps = []
        if not self.is_there:
            steps.append(f"`create role {self.name} nologin`")
        if not self.is_granted:
            steps.append(f"`grant {self.name} to USER` for the user of HOLDFAST_DATABASE_URL")
        again = "run `python -m holdfast.storage.core.schema_migration` again"
        if not steps:
            return again
        return f"let an administrator of PostgreSQL run {' and '.join(steps)}, then {again}"


def act_as_owner(engine: AsyncEngine, owner: str) -> AsyncEngine:
    """Return the engine, with the same connections, whose transactions see only the owner's rows.

    If the role cannot be used, they see every row, and only the queries' own conditions hide the
    rows of others; `holdfast doctor` says so.
    """
    return engine.execution_options(**{_OWNER: owner})


def follow_owner_option(engine: AsyncEngine) -> None:
    """Let each transaction of an engine from `act_as_owner` begin as the role."""

    @event.listens_for(engine.sync_engine, "begin")
    def on_begin(connection: Connection) -> None:
        owner = connection.get_execution_options().get(_OWNER)
        if owner is not None:
            connection.exec_driver_sql(ENTER_ROLE, {"owner": owner})


def read_owner_role(connection: psycopg.Connection) -> OwnerRole:
    """Return the state of the role in the database of the connection, which has the tables."""
    row = connection.execute(_ROLE).fetchone()
    assert row is not None, "the connection is to a database"
    return OwnerRole(*row)


def prepare_owner_role(connection: Connection) -> OwnerRole:
    """Create the role of this database, if that is allowed, and grant it what it lacks."""
    role = OwnerRole(*connection.execute(text(_ROLE)).one())
    for is_done, statement in (
        (role.is_there, f"create role {role.name} nologin"),
        (role.is_granted, f"grant {role.name} to current_user"),
    ):
        if not is_done:
            try:
                with connection.begin_nested():
                    connection.execute(text(statement))
            except ProgrammingError as error:
                if not isinstance(error.orig, psycopg.errors.InsufficientPrivilege):
                    raise
                break
    connection.execute(text(GRANT_TABLES))
    return OwnerRole(*connection.execute(text(_ROLE)).one())
