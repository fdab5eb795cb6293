"""Fill the disk under an installation for some seconds."""

import asyncio

from tests.durability.chaos import chaos_disk
from tests.durability.chaos.round_stage import RoundStage

_FULL_S = (3.0, 10.0)


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
