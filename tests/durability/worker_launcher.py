"""Start worker processes for an engine that only submits jobs."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

from holdfast.services.service_state import RunningProcess
from holdfast.services.supervisor.worker_files import READY_FILE_VARIABLE, pid_file
from tests.support.jobs.running_engine import RunningEngine
from tests.support.services.bare_environment import bare_environment

_WITHIN_S = 300.0  # of a machine that is busy with other tests
_PROGRAM = ("-m", "holdfast.worker")


@dataclass
class WorkerProcess:
    """`python -m holdfast.worker` with these words, on the engine's queue and database."""

    folder: Path
    process: subprocess.Popen[bytes]

    @property
    def log(self) -> list[dict[str, Any]]:
        """What it and its children have logged."""
        lines = (self.folder / "worker.log").read_text().splitlines()
        return [json.loads(line) for line in lines if line.startswith("{")]

    def logged(self, event: str) -> list[dict[str, Any]]:
        return [line for line in self.log if line["event"] == event]

    @property
    def is_ready(self) -> bool:
        return (self.folder / "worker.ready").exists()

    @property
    def worker(self) -> psutil.Process:
        """The worker below the supervisor."""
        written = pid_file(self.folder / "worker.ready").read_text()
        return psutil.Process(RunningProcess.model_validate_json(written).pid)

    async def until(self, condition: Callable[[], bool], within_s: float = _WITHIN_S) -> None:
        """Returns once it holds; shows the log if it never does."""
        end = asyncio.get_running_loop().time() + within_s
        while not condition():
            assert asyncio.get_running_loop().time() < end, self.log
            await asyncio.sleep(0.02)

    async def ended(self) -> int:
        """Its exit code, once it has ended."""
        return await asyncio.to_thread(self.process.wait, _WITHIN_S)


async def kill_worker(supervisor: WorkerProcess) -> None:
    """SIGKILL the worker below the supervisor, once the supervisor has named it."""

    def is_killed() -> bool:
        try:
            supervisor.worker.kill()
        except (FileNotFoundError, psutil.NoSuchProcess):
            return False  # the next worker is about to start
        return True

    await supervisor.until(is_killed)


@dataclass
class WorkerLauncher:
    """Starts worker processes, and ends them all."""

    engine: RunningEngine
    folder: Path
    started: list[WorkerProcess] = field(default_factory=list)

    async def start(
        self, *words: str, program: Sequence[str] = _PROGRAM, **variables: str
    ) -> WorkerProcess:
        """A worker process that polls."""
        worker = self.launch(*words, program=program, **variables)
        await worker.until(lambda: worker.is_ready)
        return worker

    def launch(
        self, *words: str, program: Sequence[str] = _PROGRAM, **variables: str
    ) -> WorkerProcess:
        """A worker process, as it begins."""
        folder = self.folder / f"worker-{len(self.started)}"
        folder.mkdir()
        with (folder / "worker.log").open("wb") as log:
            process = subprocess.Popen(
                [sys.executable, "-P", *program, *words],
                stderr=log,
                cwd=folder,
                env=self._environment(folder) | variables,
            )
        worker = WorkerProcess(folder, process)
        self.started.append(worker)
        return worker

    async def run(self, *command: str) -> str:
        """What a command says that runs in the environment of the workers, and succeeds."""
        process = await asyncio.create_subprocess_exec(
            *command, stdout=asyncio.subprocess.PIPE, env=self._environment(self.folder)
        )
        said, _ = await asyncio.wait_for(process.communicate(), _WITHIN_S)
        assert process.returncode == 0, said
        return said.decode()

    def _environment(self, folder: Path) -> dict[str, str]:
        holdfast = self.engine.holdfast
        key = holdfast.settings.openai_api_key
        assert key
        return bare_environment() | {
            "HOLDFAST_HOME": str(folder),
            "HOLDFAST_CONFIG": str(holdfast.settings.config_file),
            "HOLDFAST_DATABASE_URL": holdfast.endpoints.database_url,
            "HOLDFAST_TASK_QUEUE": holdfast.settings.task_queue,
            "TEMPORAL_ADDRESS": holdfast.endpoints.temporal_address,
            "TEMPORAL_CONFIG_FILE": os.devnull,
            "OPENAI_BASE_URL": holdfast.settings.openai_base_url,
            "OPENAI_API_KEY": key.get_secret_value(),
            READY_FILE_VARIABLE: str(folder / "worker.ready"),
        }

    def end(self) -> None:
        """End every process, with all below it."""
        for each in self.started:
            if each.process.poll() is None:
                below = psutil.Process(each.process.pid).children(recursive=True)
                each.process.send_signal(signal.SIGKILL)
                each.process.wait(_WITHIN_S)
                for child in below:
                    child.kill() if child.is_running() else None
