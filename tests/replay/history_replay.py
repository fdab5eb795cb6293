"""Replay recorded histories; `python -m tests.replay.history_replay` exits with 1 if a replay
fails."""

import asyncio
import json
import sys
from pathlib import Path

from temporalio.client import WorkflowHistory
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.worker import Replayer

from holdfast.worker import WORKFLOW_SANDBOX
from holdfast.workflows.research_job import ResearchJob

HISTORIES = Path(__file__).parent / "histories"


def recorded_histories() -> list[Path]:
    return sorted(HISTORIES.glob("*.json"))


async def replay_history(file: Path) -> Exception | None:
    """Why today's workflow would not go on from there, or None."""
    replayer = Replayer(
        workflows=[ResearchJob],
        data_converter=pydantic_data_converter,
        workflow_runner=WORKFLOW_SANDBOX,
    )
    runs = json.loads(await asyncio.to_thread(file.read_text))
    for number, run in enumerate(runs, start=1):
        history = WorkflowHistory.from_json(f"{file.stem}-{number}", run)
        result = await replayer.replay_workflow(history, raise_on_replay_failure=False)
        if result.replay_failure is not None:
            return result.replay_failure
    return None


async def _main() -> int:
    failures = {file.name: await replay_history(file) for file in recorded_histories()}
    broken = {name: failure for name, failure in failures.items() if failure is not None}
    for name, failure in broken.items():
        sys.stderr.write(f"{name}: {failure}\n")
    sys.stdout.write(f"{len(failures) - len(broken)} of {len(failures)} replayed\n")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(asyncio.run(_main()))
