"""A change of the workflow that would break running jobs fails here (docs/changing-workflows.md)."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest

from planning.decide import decide
from planning.presets import presets
from tests.replay.replaying import FOLDER, recorded, replay
from tests.replay.scenarios import SCENARIOS, Scenario, Stage, histories_of
from tests.support.engine import Engine
from tests.support.players import Players
from tests.support.scripted_tools import ScriptedTools


@pytest.mark.parametrize("file", recorded(), ids=lambda file: file.stem)
async def test_a_recorded_history_is_replayed(file: Path) -> None:
    assert await replay(file) is None


def test_every_preset_and_every_scenario_is_recorded() -> None:
    there = {file.stem for file in recorded()}

    assert {*presets(), *SCENARIOS} <= there


def test_histories_replay_whatever_the_order_of_sets() -> None:
    """With a hash seed of its own a set is iterated in another order."""
    for seed in ("1", "4711"):
        done = subprocess.run(
            [sys.executable, "-m", "tests.replay.replaying"],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        assert done.returncode == 0, done.stdout + done.stderr


async def test_another_order_of_starting_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workflows.job.decide", lambda state: tuple(reversed(decide(state))))

    assert "Nondeterminism" in str(await replay(FOLDER / "cancelled.json")) or (
        "Nondeterminism" in str(await replay(FOLDER / "kpi-chain.json"))
    )


async def test_another_id_of_an_activity_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    from workflows.calling import bookkeeping

    monkeypatch.setattr(
        "workflows.job.bookkeeping", lambda name, summary: bookkeeping(f"{name}!", summary)
    )

    assert "Nondeterminism" in str(await replay(FOLDER / "kpi-chain.json"))


@pytest.mark.slow
@pytest.mark.parametrize("name", SCENARIOS)
async def test_a_job_of_today_is_replayed(
    engine: Engine,
    players: Players,
    tools: ScriptedTools,
    name: str,
    tmp_path: Path,
    request: pytest.FixtureRequest,
) -> None:
    scenario: Scenario = SCENARIOS[name]

    job_id = await scenario(Stage(engine, players, tools))
    text = await histories_of(engine.temporal, job_id)

    file = (
        FOLDER if request.config.getoption("--record", default=False) else tmp_path
    ) / f"{name}.json"
    await asyncio.to_thread(file.write_text, text)
    assert await replay(file) is None
