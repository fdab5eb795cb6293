"""Tests a few rounds of `make chaos`: the result of a job must not show that a process was killed."""

import pytest

from tests.durability.chaos.chaos_installation import chaos_installation
from tests.durability.chaos.chaos_results import ChaosResults
from tests.durability.chaos.chaos_rounds import Chaos
from tests.durability.chaos.process_kills import KillTarget

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

_SEED, _NUMBERS = 6, range(1, 5)


@pytest.mark.conformance("BEY-02")
async def test_no_job_shows_that_its_services_were_killed() -> None:
    figures = ChaosResults(_SEED)

    async with chaos_installation(_SEED) as installation:
        chaos = Chaos(installation, _SEED)
        await chaos.prepare(_NUMBERS)
        for number in _NUMBERS:
            figures.rounds.append(await chaos.round(number))
        figures.installation_breaches = await chaos.check_installation()

    assert figures.findings == []
    assert set(figures.kills) == set(KillTarget)
