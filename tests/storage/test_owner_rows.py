"""Tests that PostgreSQL itself hides each owner's rows from other owners, table by table."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

import pytest
from sqlalchemy import Column, Connection, Table, create_engine, make_url, text
from sqlalchemy.exc import ProgrammingError

from holdfast.storage.core.database import Database
from holdfast.storage.core.owner_role import ENTER_ROLE
from holdfast.storage.core.schema_migration import migrate_schema
from holdfast.storage.core.tables.all_tables import metadata
from holdfast.storage.corpus.corpus_records import NewDocument
from holdfast.storage.corpus.corpus_store import CorpusStore

pytestmark = [pytest.mark.slow, pytest.mark.conformance("OPS-08")]

_WITHOUT_FOREIGN_KEYS = text("set local session_replication_role = replica")
TABLES = [table.name for table in metadata.sorted_tables]
READ_BY_ALL = {"model_pauses", "outages", "service_presence"}
"""They have no owner's rows: when services were away, and which models refuse calls."""
OF_INSTALLATION = {
    "api_keys",
    "audit_entries",
    "erasures",
    "model_turns",
    "quota_uses",
    "quotas",
    "trace_exporter",
}
"""Only administrators read them."""
ONE_ROW = {"service_presence", "trace_exporter"}
SHARED = {"collection_words", "documents", "passages", "passage_vectors"}
"""An owner reads also the rows of collections that begin with `shared/`."""


@pytest.fixture(scope="module")
def filled_url(postgres: str) -> Iterator[str]:
    """A database in which anna and bert have a row of every table; no test changes it."""
    name = f"test_{uuid4().hex[:12]}"
    with administering(postgres, isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text(f"create database {name} template template_holdfast"))
    url = postgres.replace("/postgres?", f"/{name}?")
    migrate_schema(url)
    with administering(url) as connection:
        connection.execute(_WITHOUT_FOREIGN_KEYS)
        connection.execute(text("delete from trace_exporter"))
        for number, owner in enumerate(("anna", "bert"), start=1):
            for table in metadata.sorted_tables:
                if number == 1 or table.name not in ONE_ROW:
                    store_row(connection, table, owner, number)
    yield url
    with administering(postgres, isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text(f"drop database {name} with (force)"))


@contextmanager
def administering(url: str, **options: Any) -> Iterator[Connection]:
    engine = create_engine(url, **options)
    try:
        with engine.begin() as connection:
            yield connection
    finally:
        engine.dispose()


@contextmanager
def acting_as_anna(url: str, *changes: str) -> Iterator[Connection]:
    """A transaction on behalf of anna after these changes of the database; it is undone."""
    engine = create_engine(url)
    try:
        with engine.connect() as connection:
            connection.execute(_WITHOUT_FOREIGN_KEYS)
            for change in changes:
                connection.exec_driver_sql(change)
            connection.exec_driver_sql(ENTER_ROLE, {"owner": "anna"})
            yield connection
    finally:
        engine.dispose()


def store_row(connection: Connection, table: Table, owner: str, number: int) -> None:
    """Store a row of the owner; rows of one number belong together."""
    columns = [
        column
        for column in table.columns
        if column.computed is None and (not column.nullable or column.name == "job_id")
    ]
    values = {column.name: value_of(table, column, owner, number) for column in columns}
    names, given = ", ".join(f'"{name}"' for name in values), ", ".join(values.values())
    connection.exec_driver_sql(f"insert into {table.name} ({names}) values ({given})")


def value_of(table: Table, column: Column[Any], owner: str, number: int) -> str:
    """A literal that the column takes."""
    special = {
        "owner": f"'{owner}'",
        "collection": f"'{owner}/papers'",
        "subject": f"'{owner}'",
        "job_id": f"'job-{owner}'",
        "webhook_id": f"'{owner}'",
        "schedule_id": f"'{owner}'",
        "end_char": "9",
        "language": "'english'",
        "embedding": "'[1]'",
    }
    if table.name == "jobs" and column.name in ("id", "status", "collection"):
        return {"id": f"'job-{owner}'", "status": "'done'", "collection": "''"}[column.name]
    if column.name in special:
        return special[column.name]
    if words := allowed_words(table, column.name):
        return words[0]
    kind = str(column.type).upper()
    later = "now() + interval '1 h'" if column.name.startswith("ended") else "now()"
    by_type = {
        "TIME": later,
        "ARRAY": "'{}'",
        "JSON": "'{}'",
        "BOOL": "false",
        "FLOAT": "0.5",
        "BLOB": "''",
        "INT": str(number),
        "NUMERIC": str(number),
    }
    return next((value for word, value in by_type.items() if word in kind), f"'{owner}'")


def allowed_words(table: Table, column: str) -> list[str]:
    """The words that a constraint of the table lets the column have, as literals."""
    for constraint in table.constraints:
        rule = str(getattr(constraint, "sqltext", ""))
        if rule.startswith(f"{column} in ("):
            return rule.partition("(")[2].rstrip(")").split(", ")
    return []


def rows_seen(connection: Connection, table: str) -> list[str]:
    return list(connection.exec_driver_sql(f"select t::text from {table} as t").scalars())


def rows_changed(connection: Connection, table: str) -> tuple[int, int]:
    """How many rows an update and a deletion reach."""
    column = next(c.name for c in metadata.tables[table].columns if c.identity is None)
    updated = connection.exec_driver_sql(f'update {table} set "{column}" = "{column}"')
    deleted = connection.exec_driver_sql(f"delete from {table}")
    return updated.rowcount, deleted.rowcount


@pytest.mark.parametrize("table", TABLES)
def test_an_owner_sees_and_changes_only_own_rows(filled_url: str, table: str) -> None:
    with acting_as_anna(filled_url) as connection:
        role = connection.exec_driver_sql("select current_user").scalar_one()
        seen = rows_seen(connection, table)
        changed = rows_changed(connection, table)

    assert role.startswith("holdfast_owner_")
    if table in READ_BY_ALL:
        assert (len(seen) > 0, changed) == (True, (0, 0))
    elif table in OF_INSTALLATION:
        assert (seen, changed) == ([], (0, 0))
    else:
        assert (len(seen), changed) == (1, (1, 1))
        assert "bert" not in seen[0]


@pytest.mark.parametrize("table", sorted(set(TABLES) - READ_BY_ALL))
def test_only_the_policy_of_a_table_hides_its_rows(filled_url: str, table: str) -> None:
    """Where the policy is left out, the test before would fail: rows of others show."""
    with acting_as_anna(filled_url, f"alter table {table} disable row level security") as anna:
        seen = rows_seen(anna, table)

    assert len(seen) == (1 if table in ONE_ROW else 2)


@pytest.mark.parametrize("table", sorted(set(TABLES) - READ_BY_ALL - {"sources", "source_checks"}))
def test_no_owner_stores_a_row_for_another(filled_url: str, table: str) -> None:
    left_out = (
        f"delete from {table} as t where t::text like '%%bert%%' or '{table}' = 'trace_exporter'"
    )
    with (
        acting_as_anna(filled_url, left_out) as connection,
        pytest.raises(ProgrammingError, match="row-level security policy"),
    ):
        store_row(connection, metadata.tables[table], "bert", 2)


def test_each_table_of_the_code_has_a_policy(filled_url: str) -> None:
    query = """
        select relname from pg_class where relrowsecurity and exists (
            select from pg_policy where polrelid = pg_class.oid and polname = 'own_rows')"""
    with administering(filled_url) as connection:
        guarded = set(connection.execute(text(query)).scalars())

    # A new table: its migration needs `create policy own_rows`, as migration 0025 has them.
    assert set(metadata.tables) - guarded == set()


@pytest.mark.parametrize("table", sorted(SHARED))
def test_shared_collections_are_read_and_not_changed(filled_url: str, table: str) -> None:
    shared = f"update {table} set collection = 'shared/law' where collection = 'bert/papers'"
    with acting_as_anna(filled_url, shared) as connection:
        assert len(rows_seen(connection, table)) == 2
        assert rows_changed(connection, table) == (1, 1)


async def test_the_role_ends_with_the_transaction_and_an_unnamed_owner_sees_nothing(
    filled_url: str,
) -> None:
    database = Database(filled_url, pool_size=1)
    for owner in ("anna", "", "bert'; reset role; --"):
        async with database.on_behalf_of(owner).reading() as connection:
            ids = (await connection.exec_driver_sql("select id from jobs")).scalars().all()
        assert ids == (["job-anna"] if owner == "anna" else [])
        async with database.reading() as connection:
            everyone = await connection.exec_driver_sql("select count(*) from jobs")
            assert everyone.scalar_one() == 2
    with pytest.raises(AssertionError, match="every owner"):
        await database.on_behalf_of("anna").row("select 1 as one", {})
    await database.close()


@contextmanager
def plain_user(url: str) -> Iterator[tuple[str, str]]:
    """A user who owns nothing and may create no role, and the user's address of the database."""
    name = f"plain_{uuid4().hex[:8]}"
    with administering(url) as connection:
        connection.execute(text(f"create role {name} login"))
        connection.execute(
            text(f"grant select, insert, update, delete on all tables in schema public to {name}")
        )
    try:
        yield name, str(make_url(url).set(username=name))
    finally:
        with administering(url) as connection:
            connection.execute(text(f"drop owned by {name}"))
            connection.execute(text(f"drop role {name}"))


@pytest.fixture
def plain_user_of_filled(filled_url: str) -> Iterator[tuple[str, str]]:
    with plain_user(filled_url) as user:
        yield user


async def test_a_worker_that_owns_no_table_sees_all_and_an_owner_is_filtered_by_queries_alone(
    plain_user_of_filled: tuple[str, str],
) -> None:
    name, url = plain_user_of_filled
    assert name in url
    role = migrate_schema(url)
    database = Database(url)
    async with database.reading() as connection:
        seen = {table: len(await connection.run_sync(rows_seen, table)) for table in TABLES}
    async with database.on_behalf_of("anna").reading() as connection:
        acting = (await connection.exec_driver_sql("select current_user")).scalar_one()
    await database.close()

    assert role is not None
    assert (role.is_there, role.is_granted) == (True, False)
    assert f"grant {role.name} to USER" in role.remedy
    assert {table for table in TABLES if seen[table] < (1 if table in ONE_ROW else 2)} == set()
    assert acting == name


async def test_a_worker_that_owns_no_table_fills_collections(database_url: str) -> None:
    document = NewDocument("a.md", "A", "A lantern.", "x", 10, [("", 0, 10)])
    with plain_user(database_url) as (_, url):
        database = Database(url)
        async with CorpusStore(database).writing("papers") as writer:
            await writer.put(document)
        found = await CorpusStore(database).search("papers", "lantern", limit=5)
        await database.close()

    assert [each.passage.text for each in found] == ["A lantern."]


async def test_an_administrator_gives_the_role_by_hand(
    plain_user_of_filled: tuple[str, str], filled_url: str
) -> None:
    name, url = plain_user_of_filled
    role = migrate_schema(url)
    assert role is not None
    with administering(filled_url) as connection:
        connection.execute(text(f"grant {role.name} to {name}"))

    found = migrate_schema(url)
    database = Database(url)
    async with database.on_behalf_of("anna").reading() as connection_of_anna:
        ids = await connection_of_anna.run_sync(rows_seen, "jobs")
    await database.close()

    assert found is not None
    assert found.fault == ""
    assert len(ids) == 1


async def test_a_copied_database_gets_a_role_of_its_own(database_url: str) -> None:
    """It was migrated before it was copied, so only what runs after the migrations can help."""
    database = Database(database_url)
    async with database.on_behalf_of("anna").reading() as connection:
        before = (await connection.exec_driver_sql("select current_user")).scalar_one()
    migrate_schema(database_url)
    async with database.on_behalf_of("anna").reading() as connection:
        after = (await connection.exec_driver_sql("select current_user")).scalar_one()
        oid = await connection.exec_driver_sql(
            "select oid from pg_database where datname = current_database()"
        )
        number = oid.scalar_one()
    await database.close()

    assert (before, after) == ("postgres", f"holdfast_owner_{number}")


async def test_owners_fill_collections_where_not_everyone_may_make_temporary_tables(
    database_url: str,
) -> None:
    with administering(database_url) as connection:
        database_name = make_url(database_url).database
        connection.execute(text(f'revoke temporary on database "{database_name}" from public'))
    migrate_schema(database_url)
    document = NewDocument("a.md", "A", "A lantern.", "x", 10, [("", 0, 10)])
    database = Database(database_url)

    async with CorpusStore(database.on_behalf_of("anna")).writing("anna/papers") as writer:
        await writer.put(document)
    found = await CorpusStore(database).search("anna/papers", "lantern", limit=5)
    await database.close()

    assert [each.passage.text for each in found] == ["A lantern."]


def test_a_role_with_rights_in_another_database_outlives_the_way_back(database_url: str) -> None:
    """A dump takes the grants along; the role cannot be dropped while they are there."""
    role = migrate_schema(database_url)
    assert role is not None
    other = str(make_url(database_url).set(database="postgres"))
    with administering(other) as connection:
        connection.execute(text(f"grant create on schema public to {role.name}"))
    try:
        migrate_schema(database_url, "base")

        assert migrate_schema(database_url) == role
    finally:
        with administering(other) as connection:
            connection.execute(text(f"drop owned by {role.name}"))


def test_a_migration_does_not_deadlock_with_a_worker_that_uses_two_tables(
    database_url: str,
) -> None:
    migrate_schema(database_url, "base")
    migrate_schema(database_url, "0024")
    with ThreadPoolExecutor(1) as pool, administering(database_url) as worker:
        worker.execute(text("update events set kind = kind"))
        migrating = pool.submit(migrate_schema, database_url)
        with administering(database_url, isolation_level="AUTOCOMMIT") as watching:
            until_the_migration_waits_for(watching, "events")
        worker.execute(text("update jobs set message = message"))
        worker.commit()
        role = migrating.result(120)

    assert role is not None
    assert role.fault == ""


def until_the_migration_waits_for(connection: Connection, table: str) -> None:
    waiting = text("select 1 from pg_locks where not granted and relation = to_regclass(:table)")
    given_up = time.monotonic() + 120
    while connection.execute(waiting, {"table": table}).first() is None:
        assert time.monotonic() < given_up, "the migration does not wait"
        time.sleep(0.02)
