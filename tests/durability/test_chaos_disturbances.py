"""Tests that disturbances of the chaos command do what they say, and nothing else."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import psycopg
import pytest

from holdfast.models.errors import ServiceDown
from tests.durability.chaos.chaos_disk import (
    can_turn_read_only,
    failing_disk,
    mount_again,
    turn_read_only,
)
from tests.durability.chaos.chaos_installation import ChaosInstallation, chaos_installation
from tests.durability.chaos.disturbances.process_kills import (
    KillTarget,
    find_processes,
    kill_supervisor,
    kill_target,
)

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]
_WITHIN_S = 60.0


@pytest.fixture
async def installation() -> AsyncIterator[ChaosInstallation]:
    async with chaos_installation(1) as running:
        yield running


async def test_a_killed_supervisor_leaves_the_servers_that_it_started_again(
    installation: ChaosInstallation,
) -> None:
    await kill_target(installation, KillTarget.POSTGRES)
    await wait_for_database(installation)

    await kill_supervisor(installation)

    await wait_for_database(installation)
    assert await find_processes(installation.settings.home, KillTarget.POSTGRES)


async def wait_for_database(installation: ChaosInstallation) -> None:
    """Return once PostgreSQL answers; nothing but a supervisor starts it."""
    async with asyncio.timeout(_WITHIN_S):
        while True:
            with suppress(psycopg.OperationalError, ServiceDown):
                async with installation.books() as books:
                    await books.execute("select 1")
                    return
            await asyncio.sleep(0.05)


@pytest.mark.skipif(not can_turn_read_only(), reason="needs root and an ext4 on a loop device")
def test_a_failing_disk_refuses_writes_until_it_is_mounted_again(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    with failing_disk(disk), (disk / "open").open("w") as file:
        turn_read_only(disk)
        with pytest.raises(OSError, match="Read-only file system"):
            os.write(file.fileno(), b"x")
        file.close()

        mount_again(disk)

        assert (disk / "new").write_text("x") == 1
