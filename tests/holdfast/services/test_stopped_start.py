"""Tests for a command that is stopped while its servers start."""

import asyncio
import threading

import pytest

from holdfast.services.service_lifecycle import _run_all


async def test_a_stopped_start_ends_when_the_servers_that_it_began_are_there() -> None:
    """Only then can the command stop them."""
    began, may_end = threading.Event(), threading.Event()
    servers = []

    def start() -> None:
        began.set()
        may_end.wait(30)
        servers.append("PostgreSQL")

    async def step() -> None:
        await asyncio.to_thread(start)
        servers.append("migrated")

    starting = asyncio.create_task(_run_all(step()))
    await asyncio.to_thread(began.wait, 30)
    starting.cancel()
    await asyncio.sleep(0.05)
    assert not starting.done()
    may_end.set()

    with pytest.raises(asyncio.CancelledError):
        await starting
    assert servers == ["PostgreSQL", "migrated"]
