"""Run `holdfast` commands as processes in a home folder of their own.

Most are forks of a process that has imported the commands (`command_forks`).
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from tests.support.services.bare_environment import bare_environment
from tests.support.services.command_forks import command_forks

_PROGRESS = ("starting ", "restarting ", "bringing ", "note: ")
_WITHIN_S = 600
"""Of a command: `up` took 145 s while 45 processes waited for 2 cores. A test has its own limit."""


@dataclass(frozen=True)
class CommandResult:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def said(self) -> list[str]:
        """The lines of standard error that are not the progress of starting services."""
        return [line for line in self.err.splitlines() if not line.startswith(_PROGRESS)]

    def refused(self) -> str:
        """What a mistake is answered with, once it is known to be a short message and no result.

        Raises:
            AssertionError: the command succeeded, printed a traceback, or said too much.
        """
        assert self.code != 0, f"exit code {self.code}; {self.out}{self.err}"
        assert "Traceback" not in self.err, self.err
        assert self.out == ""
        assert 1 <= len(self.said) <= 2, self.err
        assert self.said[0].startswith("error: "), self.err
        return "\n".join(self.said)


@dataclass(frozen=True)
class CommandShell:
    """A shell in an empty folder, with an environment that names no service of somebody's own."""

    home: Path
    folder: Path

    def holdfast(self, *words: str | bytes, stdin: bytes = b"", **variables: str) -> CommandResult:
        """Run `holdfast` with these words, and variables on top of the bare environment."""
        environment = self.environment(variables)
        return _result(command_forks().run(words, stdin, self.folder, environment, _WITHIN_S))

    def program(self, *words: str, **variables: str) -> CommandResult:
        """The same by an interpreter that starts: for what it imports, and what others see of it."""
        done = subprocess.run(
            [sys.executable, "-m", "holdfast", *words],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_WITHIN_S,
            cwd=self.folder,
            check=False,
            env=self.environment(variables),
        )
        return _result(done)

    def started(self, *words: str, **variables: str) -> subprocess.Popen[bytes]:
        """`holdfast` with these words, while it runs."""
        return subprocess.Popen(
            [sys.executable, "-m", "holdfast", *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=self.folder,
            env=self.environment(variables),
        )

    def environment(self, variables: Mapping[str, str] = MappingProxyType({})) -> dict[str, str]:
        """The environment of each command."""
        ours = {
            "PYTHONUTF8": "1",
            "HOLDFAST_HOME": str(self.home),
            "TEMPORAL_CONFIG_FILE": os.devnull,
        }
        return bare_environment() | ours | dict(variables)

    @property
    def has_started_services(self) -> bool:
        """Whether anything was written where services keep their data and state."""
        return self.home.exists() and any(self.home.iterdir())


def _result(done: subprocess.CompletedProcess[bytes]) -> CommandResult:
    out, err = (text.decode("utf-8", "backslashreplace") for text in (done.stdout, done.stderr))
    return CommandResult(done.returncode, out, err)


@contextmanager
def command_shell() -> Iterator[CommandShell]:
    """A shell whose folders are gone afterwards."""
    # Not pytest's tmp_path: PostgreSQL's user must reach the folder, by a short path.
    with tempfile.TemporaryDirectory(prefix="hf-") as folder:
        Path(folder, "work").mkdir()
        here = CommandShell(Path(folder, "home"), Path(folder, "work"))
        try:
            yield here
        finally:
            if here.has_started_services:
                here.holdfast("down")
