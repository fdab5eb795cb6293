"""Tests that the official JavaScript client works with Holdfast as its server (API-05)."""

import asyncio
import json
import os
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.endpoints.scripted_roles import ScriptedRoles
from tests.support.jobs.plan_builders import final_task, lookup_task, plan
from tests.support.jobs.running_engine import RunningEngine
from tests.support.services.http_service import HttpService
from tests.support.tools.scripted_tools import ScriptedTools

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not installed"),
]
PACKAGE = "openai@7.57.0"
SCRIPT = Path(__file__).with_name("openai_client.mjs")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the client installed."""
    shutil.copy(SCRIPT, tmp_path)
    options = ["--prefix", str(tmp_path), "--no-audit", "--no-fund", "--ignore-scripts"]
    installed = subprocess.run(
        ["npm", "install", *options, PACKAGE], capture_output=True, text=True, check=False
    )
    if installed.returncode != 0:
        pytest.skip(f"npm cannot install {PACKAGE}: {installed.stderr[-300:]}")
    return tmp_path


async def test_the_javascript_client_resumes_a_stream_and_reads_errors(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools, folder: Path
) -> None:
    tools.answers = lambda _: "The pier was built by Ida Marsh in 1868."
    players.plan = plan(lookup_task("T1", query="pier"), final_task("T2", "T1"))
    settings = engine.holdfast.settings.model_copy(update={"model": "scripted"})
    with HttpService(replace(engine.holdfast, settings=settings), writes=True) as serving:
        client = await asyncio.create_subprocess_exec(
            "node",
            SCRIPT.name,
            cwd=folder,
            env=os.environ | {"BASE": f"{serving.url}/v1", "KEY": serving.token},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        out, err = await client.communicate()

    assert client.returncode == 0, err.decode()
    seen = json.loads(out)
    assert seen["numbers"] == list(range(len(seen["numbers"])))
    assert seen["last"] == "response.completed"
    assert "Ida Marsh" in seen["text"]
    assert seen["marks"]
    assert set(seen["marks"]) == {"[1]"}
    assert seen["refused"][0] == 404
    assert "GET /v1/models lists the models" in seen["refused"][1]
    assert "holdfast-research" in seen["models"]
