"""One home folder with its embedded services, and what `up` said while it worked."""

import os
import signal
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from holdfast.services import Endpoints, start_services
from holdfast.services.detached_processes import find_process, wait_until_gone
from holdfast.settings import Settings


@dataclass
class ServiceInstallation:
    """One home folder, and what `up` said while it worked."""

    home: Path
    said: list[str] = field(default_factory=list)

    @property
    def settings(self) -> Settings:
        return Settings(home=self.home)

    async def up(self, *, worker: bool = False) -> Endpoints:
        self.said.clear()
        return await start_services(self.settings, self.said.append, worker=worker)

    def processes(self) -> list[psutil.Process]:
        return [p for p in psutil.process_iter(["cmdline", "ppid"]) if self._is_ours(p)]

    def _is_ours(self, process: psutil.Process) -> bool:
        return any(str(self.home) in word for word in process.info["cmdline"] or [])


def kill(pid: int) -> None:
    victim = find_process(pid)
    assert victim
    os.kill(pid, signal.SIGKILL)
    assert wait_until_gone(victim, 10)
