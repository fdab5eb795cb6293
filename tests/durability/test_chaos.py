"""A few rounds of `make chaos`: what a job comes to must not show that something was killed."""

import pytest

from tests.durability.chaos.installation import installed
from tests.durability.chaos.killing import Target
from tests.durability.chaos.rounds import Chaos
from tests.durability.chaos.table import Figures

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

_SEED, _NUMBERS = 6, range(1, 5)


@pytest.mark.conformance("BEY-02")
async def test_no_job_shows_that_its_services_were_killed() -> None:
    figures = Figures(_SEED)

    async with installed(_SEED) as installation:
        chaos = Chaos(installation, _SEED)
        await chaos.prepare(_NUMBERS)
        for number in _NUMBERS:
            figures.rounds.append(await chaos.round(number))
        figures.of_the_whole = await chaos.last_look()

    assert figures.findings == []
    assert set(figures.kills) == set(Target)
