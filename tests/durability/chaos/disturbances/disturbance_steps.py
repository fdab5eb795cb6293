"""What each kind of round does once its jobs run."""

from collections.abc import Awaitable, Callable, Mapping

from tests.durability.chaos.disturbances.clock_jumps import jump
from tests.durability.chaos.disturbances.control_operations import control_jobs
from tests.durability.chaos.disturbances.disk_faults import fill_disk, turn_disk_read_only
from tests.durability.chaos.disturbances.disturbance_kinds import DisturbanceKind
from tests.durability.chaos.disturbances.long_outages import power_cut
from tests.durability.chaos.disturbances.process_freezes import freeze_services
from tests.durability.chaos.disturbances.restored_backups import restore_in_mid_job
from tests.durability.chaos.round_stage import RoundStage, draw_targets

_MOST_KILLS = 3


async def _kill_services(stage: RoundStage) -> None:
    for target in draw_targets(stage, _MOST_KILLS):
        if stage.this.kills and await stage.are_over():
            return
        await stage.kill(target)


STEPS: Mapping[DisturbanceKind, Callable[[RoundStage], Awaitable[None]]] = {
    DisturbanceKind.KILLS: _kill_services,
    DisturbanceKind.FREEZES: freeze_services,
    DisturbanceKind.CONTROLS: control_jobs,
    DisturbanceKind.UNSAFE: _kill_services,
    DisturbanceKind.CUTS: _kill_services,
    DisturbanceKind.OUTAGE: power_cut,
    DisturbanceKind.RESTORE: restore_in_mid_job,
    DisturbanceKind.DISK: fill_disk,
    DisturbanceKind.READ_ONLY: turn_disk_read_only,
    DisturbanceKind.CLOCK: jump,
}
"""The steps of a recorded upgrade are its whole round."""
