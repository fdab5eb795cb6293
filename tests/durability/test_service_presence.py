"""Tests that a worker notices when PostgreSQL or Temporal is away, and notes how long."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import datetime

import pytest
from sqlalchemy import select, text
from temporalio.client import Client

from holdfast.services.worker.service_presence import ServicePresence
from holdfast.storage.core.database import Database
from holdfast.storage.core.tables.outage_tables import outages, service_presence
from holdfast.storage.jobs.outage_rows import MAX_SILENCE

pytestmark = pytest.mark.conformance("REL-01")

_LONGER_S = MAX_SILENCE.total_seconds() + 1


@dataclass
class Clock:
    """A clock that the test moves."""

    now_s: float = 100.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
async def db(database_url: str) -> AsyncIterator[Database]:
    db = Database(database_url)
    yield db
    await db.close()


async def last_seen(db: Database) -> datetime | None:
    async with db.reading() as connection:
        found: datetime | None = await connection.scalar(select(service_presence.c.seen_at))
    return found


async def test_services_that_answer_are_there(temporal: Client, db: Database) -> None:
    clock = Clock()
    presence = ServicePresence(temporal, db, now=clock)
    clock.now_s += _LONGER_S

    before = presence.are_services_there()
    await presence.look()

    assert (before, presence.are_services_there()) == (False, True)
    assert await last_seen(db) is not None


async def test_without_temporal_nothing_is_noted_and_no_time_counts(
    temporal: Client, db: Database
) -> None:
    clock = Clock()
    await ServicePresence(temporal, db).look()
    seen = await last_seen(db)
    gone = await Client.connect("127.0.0.1:1", lazy=True)
    presence = ServicePresence(gone, db, now=clock)

    await presence.look()
    clock.now_s += _LONGER_S

    assert not presence.are_services_there()
    assert await last_seen(db) == seen


async def test_without_postgresql_no_time_counts_at_once(temporal: Client) -> None:
    db = Database("postgresql+psycopg://nobody@/none?host=/nowhere")
    presence = ServicePresence(temporal, db)

    await presence.look()

    assert not presence.are_services_there()
    await db.close()


async def test_the_first_look_after_an_outage_stores_how_long_it_was(
    temporal: Client, db: Database
) -> None:
    presence = ServicePresence(temporal, db)
    await presence.look()
    async with db.writing() as connection:
        asleep = "update service_presence set seen_at = seen_at - interval '8 hours'"
        await connection.execute(text(asleep))

    await presence.look()

    async with db.reading() as connection:
        (outage,) = (await connection.execute(select(outages))).all()
    assert 8 <= (outage.ended_at - outage.began_at).total_seconds() / 3600 < 8.1
