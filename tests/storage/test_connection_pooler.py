"""Tests that Holdfast works behind PgBouncer in transaction mode."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from temporalio.client import Client

from holdfast.storage.core.database import Database
from holdfast.storage.core.schema_migration import migrate_schema, newest_schema_version
from holdfast.storage.corpus.corpus_store import CorpusStore
from tests.support.endpoints.scripted_model import ScriptedModel
from tests.support.endpoints.scripted_roles import ScriptedRoles
from tests.support.jobs.plan_builders import final_task, lookup_task, plan
from tests.support.jobs.running_engine import running_engine
from tests.support.services.connection_pooler import PROGRAM, pgbouncer
from tests.support.tools.scripted_tools import ScriptedTools

pytestmark = [
    pytest.mark.slow,
    pytest.mark.conformance("OPS-04"),
    pytest.mark.skipif(PROGRAM is None, reason="PgBouncer is not on this system"),
]


@pytest.fixture
def pooled_url(database_url: str) -> Iterator[str]:
    """Few connections, so that each transaction soon meets one that another client used."""
    with pgbouncer(database_url, connections=4) as url:
        yield url


async def test_jobs_run_to_their_end_behind_the_pooler(
    temporal: Client,
    pooled_url: str,
    tmp_path: Path,
    model: ScriptedModel,
    tools: ScriptedTools,
    players: ScriptedRoles,
) -> None:
    steps = [lookup_task(f"T{n}", query=f"q{n}") for n in range(1, 7)]
    players.plan = plan(*steps, final_task("T7", *(step.id for step in steps)))
    tools.answers = lambda argument: f"found {argument}"
    async with running_engine(
        temporal, pooled_url, tmp_path, model_url=model.url, tools_url=tools.url
    ) as engine:
        ended = await asyncio.gather(*(engine.run(f"Who keeps light {n}?") for n in range(3)))

    assert {view.stop_reason for view in ended} == {"answered"}


async def test_a_second_writer_of_a_collection_waits_behind_the_pooler(pooled_url: str) -> None:
    first, second = Database(pooled_url), Database(pooled_url)
    order: list[str] = []

    async def write(database: Database, name: str, may_end: asyncio.Event) -> None:
        async with CorpusStore(database).writing("papers"):
            order.append(f"{name} began")
            has_begun.set()
            await may_end.wait()
            order.append(f"{name} ended")

    has_begun, may_end, at_once = asyncio.Event(), asyncio.Event(), asyncio.Event()
    at_once.set()
    writing = asyncio.create_task(write(first, "first", may_end))
    await has_begun.wait()
    waiting = asyncio.create_task(write(second, "second", at_once))
    await until_one_waits_for_a_lock(first)
    may_end.set()
    await asyncio.gather(writing, waiting)
    await asyncio.gather(first.close(), second.close())

    assert order == ["first began", "first ended", "second began", "second ended"]


async def until_one_waits_for_a_lock(database: Database) -> None:
    query = "select count(*) from pg_locks where locktype = 'advisory' and not granted"
    async with asyncio.timeout(60):
        while True:
            async with database.reading() as connection:
                if (await connection.exec_driver_sql(query)).scalar_one():
                    return
            await asyncio.sleep(0.02)


async def test_the_schema_is_migrated_behind_the_pooler(pooled_url: str) -> None:
    await asyncio.to_thread(migrate_schema, pooled_url, "base")

    await asyncio.gather(*(asyncio.to_thread(migrate_schema, pooled_url) for _ in range(2)))

    database = Database(pooled_url)
    async with database.reading() as connection:
        found = await connection.exec_driver_sql("select version_num from alembic_version")
        assert found.scalars().all() == [newest_schema_version()]
    await database.close()


@pytest.mark.conformance("OPS-08")
async def test_the_role_of_an_owner_reaches_no_other_transaction(pooled_url: str) -> None:
    await asyncio.to_thread(migrate_schema, pooled_url)
    database = Database(pooled_url)
    columns = "id, question, preset, model, strategy, config_hash, request_hash, status, owner"
    async with database.writing() as connection:
        for owner in ("anna", "bert"):
            row = f"'{owner}', 'q', 'p', 'm', '{{}}', 'x', 'x', 'done', '{owner}'"
            await connection.exec_driver_sql(f"insert into jobs ({columns}) values ({row})")

    async def seen(owner: str) -> tuple[str, ...]:
        acting = database.on_behalf_of(owner) if owner else database
        async with acting.reading() as connection:
            await asyncio.sleep(0)  # others take their turn between the statements
            rows = await connection.exec_driver_sql("select id from jobs order by id")
            return tuple(rows.scalars())

    owners = ("anna", "", "bert") * 20
    found = await asyncio.gather(*(seen(owner) for owner in owners))
    await database.close()

    assert list(found) == [(owner,) if owner else ("anna", "bert") for owner in owners]
