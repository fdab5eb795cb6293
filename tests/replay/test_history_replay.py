"""Tests that today's workflow replays every recorded history (docs/changing-workflows.md)."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest

from holdfast.planning.scheduler.next_actions import decide
from holdfast.planning.strategies.strategy_presets import all_presets
from tests.replay.history_replay import HISTORIES, recorded_histories, replay_history
from tests.replay.replay_scenarios import SCENARIOS, Scenario, ScenarioStage, histories_of
from tests.support.endpoints.scripted_roles import ScriptedRoles
from tests.support.jobs.running_engine import RunningEngine
from tests.support.long_parameters import mostly_long, only_long
from tests.support.tools.scripted_tools import ScriptedTools


@pytest.mark.parametrize("file", recorded_histories(), ids=lambda file: file.stem)
async def test_a_recorded_history_is_replayed(file: Path) -> None:
    assert await replay_history(file) is None


def test_every_preset_and_every_scenario_is_recorded() -> None:
    there = {file.stem for file in recorded_histories()}

    assert {*all_presets(), *SCENARIOS} <= there


@pytest.mark.slow
@pytest.mark.parametrize("seed", ["1", only_long("4711")])
@pytest.mark.long
def test_histories_replay_whatever_the_order_of_sets(seed: str) -> None:
    """With a hash seed of its own a set is iterated in another order."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.replay.history_replay"],
        env={**os.environ, "PYTHONHASHSEED": seed},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr


async def test_another_order_of_starting_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "holdfast.workflows.research_job.decide", lambda state: tuple(reversed(decide(state)))
    )

    assert "Nondeterminism" in str(await replay_history(HISTORIES / "cancelled.json")) or (
        "Nondeterminism" in str(await replay_history(HISTORIES / "kpi-chain.json"))
    )


async def test_another_id_of_an_activity_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    from holdfast.workflows.activity_calls import database_activity_config

    monkeypatch.setattr(
        "holdfast.workflows.research_job.database_activity_config",
        lambda name, summary: database_activity_config(f"{name}!", summary),
    )

    assert "Nondeterminism" in str(await replay_history(HISTORIES / "kpi-chain.json"))


@pytest.mark.slow
@pytest.mark.parametrize("name", mostly_long(SCENARIOS, usual=4))
async def test_a_job_of_today_is_replayed(
    engine: RunningEngine,
    players: ScriptedRoles,
    tools: ScriptedTools,
    name: str,
    tmp_path: Path,
    request: pytest.FixtureRequest,
) -> None:
    scenario: Scenario = SCENARIOS[name]

    job_id = await scenario(ScenarioStage(engine, players, tools))
    text = await histories_of(engine.temporal, job_id)

    file = (HISTORIES if request.config.getoption("--record") else tmp_path) / f"{name}.json"
    await asyncio.to_thread(file.write_text, text)
    assert await replay_history(file) is None
