"""Set the clock of the worker and of PostgreSQL an hour ahead and back while jobs run."""

import asyncio

from tests.durability.chaos.disturbances.process_kills import KillTarget
from tests.durability.chaos.round_stage import RoundStage

_JUMPS_S = (3600, -3600, 0)
_SEEN_WITHIN_S = (1.2, 2.5)


async def jump(stage: RoundStage) -> None:
    """The clock jumps two to four times; the worker may be killed at another time than it began."""
    clock = stage.installation.clock
    assert clock, "the installation has a clock of its own"
    for _ in range(stage.dice.randint(2, 4)):
        seconds = stage.dice.choice(_JUMPS_S)
        stage.this.actions.append(f"clock {seconds:+d} s")
        clock.set(seconds)
        await asyncio.sleep(stage.dice.uniform(*_SEEN_WITHIN_S))
        if stage.dice.random() < 0.3:
            await stage.kill(KillTarget.WORKER)
