"""Tests that a slow machine is not taken for an outage of PostgreSQL, and an outage is."""

import asyncio
import socket
from typing import Any

import psycopg
import pytest

from holdfast.models.errors import StorageAway
from holdfast.storage.core import hot_path_pool
from holdfast.storage.core.database import Database

pytestmark = pytest.mark.conformance("REL-01")


async def test_statements_wait_for_a_connection_that_opens_slowly(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    connect = psycopg.AsyncConnection.connect

    async def slow(*arguments: Any, **options: Any) -> Any:
        await asyncio.sleep(0.5)
        return await connect(*arguments, **options)

    monkeypatch.setattr(psycopg.AsyncConnection, "connect", slow)
    monkeypatch.setattr(hot_path_pool, "_CONNECT_TIMEOUT_S", 0.1)
    database = Database(database_url)
    try:
        rows = await asyncio.gather(*(database.row("select 1 as one", {}) for _ in range(12)))
    finally:
        await database.close()

    assert [row.one for row in rows] == [1] * 12


async def test_a_refused_connection_is_an_outage_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hot_path_pool, "_SILENCE_S", 3600.0)
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))  # taken, and nobody listens
        database = Database(f"postgresql+psycopg://u@127.0.0.1:{closed.getsockname()[1]}/d")
        try:
            with pytest.raises(StorageAway):
                async with asyncio.timeout(120):
                    await database.row("select 1 as one", {})
        finally:
            await database.close()
