"""Tests that every reader takes its seeds, and what fuzzing once broke it with, or refuses."""

import random

import pytest

from tests.fuzzing.fuzz_targets import TARGETS
from tests.fuzzing.kept_inputs import kept_inputs

pytestmark = pytest.mark.conformance("SAF-01")

CASES = [
    pytest.param(name, data, id=f"{name}-{label}")
    for name, target in TARGETS.items()
    for label, data in [
        *((f"seed {number}", seed) for number, seed in enumerate(target.seeds)),
        *((path.name, path.read_bytes()) for path in kept_inputs(name)),
    ]
]


@pytest.mark.parametrize(("name", "data"), CASES)
def test_an_input_is_read_or_refused_in_time(name: str, data: bytes) -> None:
    TARGETS[name].read(data)


@pytest.mark.parametrize("name", TARGETS)
def test_a_damaged_seed_is_read_or_refused_in_time(name: str) -> None:
    dice = random.Random(name)
    for seed in TARGETS[name].seeds:
        damaged = bytearray(seed)
        for _ in range(8):
            damaged[dice.randrange(len(damaged))] = dice.randrange(256)
        TARGETS[name].read(bytes(damaged))
