"""Tests that a real PostgreSQL stores and returns every text and value after the replacement."""

from collections.abc import AsyncIterator

import pytest
from hypothesis import HealthCheck, example, given, settings
from pydantic import JsonValue
from sqlalchemy import Column, MetaData, Table, insert, select
from sqlalchemy.dialects.postgresql import JSONB

from holdfast.models.text.storable_text import storable_json, storable_text, storable_value
from holdfast.storage.core.database import Database
from holdfast.storage.core.tables.columns import StorableText
from tests.models.text.test_storable_text import any_text, any_value

SCRATCH = Table(
    "scratch",
    MetaData(),
    Column("text", StorableText),
    Column("value", JSONB(none_as_null=False)),
    prefixes=["TEMPORARY"],
)
FEW = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@pytest.fixture
async def db(database_url: str) -> AsyncIterator[Database]:
    database = Database(database_url)
    yield database
    await database.close()


@FEW
@given(text=any_text, value=any_value)
@example(text="\ud83d\ude00\x00", value={"\x00": ["\ud800", float("nan")]})
async def test_a_column_returns_the_text_and_the_value_that_were_storable(
    db: Database, text: str, value: JsonValue
) -> None:
    async with db.reading() as connection:
        await connection.run_sync(SCRATCH.create)
        await connection.execute(insert(SCRATCH).values(text=text, value=value))
        row = (await connection.execute(select(SCRATCH))).one()
        await connection.rollback()

    assert (row.text, row.value) == (storable_text(text), storable_value(value))


@FEW
@given(text=any_text, value=any_value)
async def test_a_prepared_statement_returns_the_same(
    db: Database, text: str, value: JsonValue
) -> None:
    statement = "select %(text)s::text as text, %(value)s::jsonb as value"

    row = await db.row(statement, {"text": text, "value": storable_json(value)})

    assert (row.text, row.value) == (storable_text(text), storable_value(value))
