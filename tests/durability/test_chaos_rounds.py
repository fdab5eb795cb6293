"""Tests a minute of `make chaos`: the result of a job must not show what was done meanwhile."""

import pytest

from holdfast.planning.strategies.strategy_presets import all_presets
from tests.durability.chaos.chaos_installation import chaos_installation
from tests.durability.chaos.chaos_results import ChaosResults
from tests.durability.chaos.chaos_rounds import Chaos
from tests.durability.chaos.disturbances.disturbance_kinds import DisturbanceKind
from tests.durability.chaos.job_shapes import DRAWN_PATTERNS, PlanPattern

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

_SEED = 17
_KINDS = (
    DisturbanceKind.KILLS,
    DisturbanceKind.CONTROLS,
    DisturbanceKind.FREEZES,
    DisturbanceKind.UNSAFE,
    DisturbanceKind.CUTS,
    DisturbanceKind.RESTORE,
)
"""Outages and upgrades have tests of their own; disk faults and a clock that jumps need root."""


@pytest.mark.conformance("BEY-02")
async def test_no_job_shows_what_was_done_to_its_services() -> None:
    figures = ChaosResults(_SEED)

    async with chaos_installation(_SEED) as installation:
        chaos = Chaos(installation, _SEED)
        for number, kind in enumerate(_KINDS, start=1):
            figures.rounds.append(await chaos.round(number, kind))
        figures.installation_breaches = await chaos.check_installation()

    assert [f"{each.job}: {each.breach.what}" for each in figures.findings] == []
    assert len(figures.rounds) == len(_KINDS)


def test_every_preset_is_drawn() -> None:
    drawn = {pattern.preset for pattern in (*DRAWN_PATTERNS, PlanPattern.NOTES)}

    assert drawn == set(all_presets())
