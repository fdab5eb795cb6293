"""Tests that migrations make the expected schema, can be reverted, and run once."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import create_engine, inspect, text
from structlog.testing import capture_logs

from holdfast.models.errors import BadInput
from holdfast.storage.core.owner_role import OwnerRole
from holdfast.storage.core.schema_migration import main, migrate_schema, newest_schema_version
from holdfast.storage.core.tables.all_tables import metadata


def test_the_migrated_schema_is_the_one_of_the_tables(database_url: str) -> None:
    engine = create_engine(database_url)

    with engine.connect() as connection:
        differences = compare_metadata(MigrationContext.configure(connection), metadata)

    engine.dispose()
    assert differences == []


def test_every_migration_goes_down_and_up_again(database_url: str) -> None:
    migrate_schema(database_url, "base")
    engine = create_engine(database_url)
    left = set(inspect(engine).get_table_names())

    migrate_schema(database_url)

    assert left <= {"alembic_version"}
    assert set(metadata.tables) <= set(inspect(engine).get_table_names())
    engine.dispose()


def test_ten_at_once_migrate_once(database_url: str) -> None:
    migrate_schema(database_url, "base")

    with ThreadPoolExecutor(10) as pool:
        list(pool.map(lambda _: migrate_schema(database_url), range(10)))

    engine = create_engine(database_url)
    with engine.connect() as connection:
        versions = (
            connection.execute(text("select version_num from alembic_version")).scalars().all()
        )
    engine.dispose()
    assert versions == [newest_schema_version()]


def test_the_schema_of_a_newer_release_stays_as_it_is(
    database_url: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    engine = create_engine(database_url)
    with engine.begin() as connection:
        connection.execute(text("update alembic_version set version_num = '9999'"))

    monkeypatch.setenv("HOLDFAST_DATABASE_URL", database_url)
    with capture_logs() as logs:
        code = main()
    with pytest.raises(BadInput, match="revision 9999, which this release does not know"):
        migrate_schema(database_url, allows_newer=False)

    with engine.connect() as connection:
        at = connection.execute(text("select version_num from alembic_version")).scalar_one()
    engine.dispose()
    assert (at, code) == ("9999", 0)
    assert [(each["log_level"], each["revision"]) for each in logs] == [("warning", "9999")]
    assert capsys.readouterr().out == "database is at revision 9999\n"
    assert isinstance(migrate_schema(database_url), OwnerRole)


def test_the_words_of_old_passages_are_folded_by_the_migration(database_url: str) -> None:
    (migration,) = (Path(__file__).parents[2] / "migrations/versions").glob(
        "*_find_words_with_and_without_accents.py"
    )
    before = int(migration.name[:4]) - 1
    migrate_schema(database_url, "base")
    migrate_schema(database_url, f"{before:04d}")
    engine = create_engine(database_url)
    document = """
        insert into documents (collection, address, title, text, sha256, size_bytes)
        values ('c', 'a', 't', 'Łódź', 'x', 1) returning id"""
    passage = """
        insert into passages
            (document_id, collection, position, start_char, end_char, text, context)
        values (:document, 'c', 0, 0, 4, 'Łódź', 't')"""
    with engine.begin() as connection:
        stored = connection.execute(text(document)).scalar_one()
        connection.execute(text(passage), {"document": stored})

    migrate_schema(database_url)

    with engine.connect() as connection:
        counted = connection.execute(text("select word, passages from collection_words")).all()
    engine.dispose()
    assert sorted(map(tuple, counted)) == [("", 1), ("lodz", 1)]
