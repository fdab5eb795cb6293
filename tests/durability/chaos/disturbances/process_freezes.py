"""Stop processes with SIGSTOP for a while, and let them go on, as a machine that swaps does."""

import asyncio
import os
import signal
from collections.abc import Sequence
from contextlib import suppress

import psutil

from tests.durability.chaos.disturbances.process_kills import KillTarget, find_processes
from tests.durability.chaos.round_stage import RoundStage

_STOPPED_S = (1.0, 8.0)
_MOST = 2


async def freeze_services(stage: RoundStage) -> None:
    """Stops one service after the other."""
    for _ in range(stage.dice.randint(1, _MOST)):
        target = stage.dice.choice(list(KillTarget))
        seconds = stage.dice.uniform(*_STOPPED_S)
        victims = await find_processes(stage.installation.settings.home, target)
        stage.this.actions.append(f"stop {target} {seconds:.1f} s")
        _signal(victims, signal.SIGSTOP)
        try:
            await asyncio.sleep(seconds)
        finally:
            _signal(victims, signal.SIGCONT)
        await stage.pause()


def _signal(victims: Sequence[psutil.Process], number: signal.Signals) -> None:
    for victim in victims:
        with suppress(ProcessLookupError):
            os.kill(victim.pid, number)
