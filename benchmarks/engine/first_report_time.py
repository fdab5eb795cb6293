"""Measure the time from `holdfast run` to its report, with the services up and with the services
down."""

import os
import statistics
import subprocess
import sys
import time
from importlib.resources import as_file, files
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.setup.benchmark_figures import MeasuredFigure

QUESTION = "In which year was the engineer who designed the Ouzel Stack Light born?"
WARM_AIM_S = 5.0
COLD_AIM_S = 15.0
_FOREIGN = ("HOLDFAST_", "OPENAI_", "TEMPORAL_")


async def measure(rounds: int = 5) -> list[MeasuredFigure]:
    """Each round: a new home with nothing in it, the same with services down, and with them up."""
    found: dict[str, list[float]] = {"new": [], "down": [], "up": []}
    with as_file(files("holdfast").joinpath("demo", "collection")) as documents:
        for _ in range(rounds):
            with TemporaryDirectory(prefix="holdfast-bench-") as home:
                for name, seconds in _one_home(Path(home), documents).items():
                    found[name].append(seconds)
    medians = {name: statistics.median(times) for name, times in found.items()}
    return [
        MeasuredFigure("services up, documents read", medians["up"], "s", WARM_AIM_S),
        MeasuredFigure("services down", medians["down"], "s", COLD_AIM_S),
        MeasuredFigure("new installation, documents to read", medians["new"], "s"),
    ]


def _one_home(home: Path, documents: Path) -> dict[str, float]:
    ask = ["run", QUESTION, "--docs", str(documents), "--model", "extractive", "--json"]
    try:
        new = _seconds(home, ask)
        up = _seconds(home, ask)
        _seconds(home, ["down"])
        return {"new": new, "up": up, "down": _seconds(home, ask)}
    finally:
        _seconds(home, ["down"])


def _seconds(home: Path, arguments: list[str]) -> float:
    """How long the command took.

    Raises:
        RuntimeError: it failed, so its time would mean nothing.
    """
    env = {name: value for name, value in os.environ.items() if not name.startswith(_FOREIGN)}
    began = time.perf_counter()
    ran = subprocess.run(
        [sys.executable, "-m", "holdfast", *arguments],
        env=env | {"HOLDFAST_HOME": str(home)},
        cwd=home,
        capture_output=True,
        text=True,
        check=False,
        timeout=180,
    )
    took = time.perf_counter() - began
    if ran.returncode:
        raise RuntimeError(f"holdfast {arguments[0]}: {ran.stderr[-1000:]}")
    return took
