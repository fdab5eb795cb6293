"""Fill the disk under an installation for some seconds, or let its file system turn read-only."""

import asyncio

from tests.durability.chaos import chaos_disk
from tests.durability.chaos.disturbances.process_kills import kill_everything
from tests.durability.chaos.round_stage import RoundStage

_FULL_S = (3.0, 10.0)
_READ_ONLY_S = (1.0, 10.0)


async def fill_disk(stage: RoundStage) -> None:
    """Leaves no free block for some seconds; then starts whatever has ended."""
    disk = stage.installation.settings.home.parent
    seconds = stage.dice.uniform(*_FULL_S)
    stage.this.actions.append(f"disk full {seconds:.1f} s")
    chaos_disk.fill(disk)
    try:
        await asyncio.sleep(seconds)
    finally:
        chaos_disk.free(disk)
    await stage.installation.up()


async def turn_disk_read_only(stage: RoundStage) -> None:
    """Refuses all writes for some seconds; then everything is killed and the disk mounted again.

    A file system that met an error stays read-only until it is mounted again.
    """
    disk = stage.installation.settings.home.parent
    seconds = stage.dice.uniform(*_READ_ONLY_S)
    await stage.note_answers()
    stage.this.actions.append(f"disk read-only {seconds:.1f} s")
    chaos_disk.turn_read_only(disk)
    await asyncio.sleep(seconds)
    await kill_everything(stage.installation)
    await asyncio.to_thread(chaos_disk.mount_again, disk)
    await stage.installation.up()
