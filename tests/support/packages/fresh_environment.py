"""Virtual environments in which Holdfast is installed from its wheel."""

import os
import subprocess
import sys
import sysconfig
import venv
from dataclasses import dataclass
from pathlib import Path

from tests.support.services.bare_environment import bare_environment

_WITHIN_S = 120
_NOT_LINKED = ("holdfast", "_holdfast")


@dataclass(frozen=True)
class FreshEnvironment:
    """A virtual environment without our source.

    To install 90 distributions takes a network and a minute, so that the dependencies are those of
    the environment that runs the tests.
    """

    folder: Path

    @property
    def programs(self) -> Path:
        return self.folder / "bin"

    @property
    def site_packages(self) -> Path:
        return next(self.folder.glob("lib/python*/site-packages"))

    def install(self, *wheels: Path) -> None:
        self._pip("install", "--no-deps", "--no-index", "--no-compile", *map(str, wheels))

    def uninstall(self, *names: str) -> None:
        self._pip("uninstall", "--yes", *names)

    def run(
        self, program: str, *words: str, folder: Path, **variables: str
    ) -> subprocess.CompletedProcess[str]:
        """Run a program of the environment in a folder, and return what it left behind."""
        return subprocess.run(
            [str(self.programs / program), *words],
            cwd=folder,
            env=_environment() | variables,
            capture_output=True,
            text=True,
            timeout=_WITHIN_S,
            check=False,
        )

    def _pip(self, *words: str) -> None:
        pip = [sys.executable, "-m", "pip", "--python", str(self.programs / "python")]
        quiet = ["--quiet", "--disable-pip-version-check", "--no-input"]
        done = subprocess.run(
            [*pip, *words, *quiet],
            env=_environment(),
            capture_output=True,
            text=True,
            timeout=_WITHIN_S,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr


def create_fresh_environment(folder: Path) -> FreshEnvironment:
    """Create an environment that can import our dependencies, but not Holdfast."""
    venv.EnvBuilder(symlinks=True).create(folder)
    environment = FreshEnvironment(folder)
    links = folder / "dependencies"
    _link_dependencies(links)
    (environment.site_packages / "dependencies.pth").write_text(f"{links}\n")
    temporal = Path(sysconfig.get_path("scripts"), "temporal")
    (environment.programs / "temporal").symlink_to(temporal)
    return environment


def _link_dependencies(links: Path) -> None:
    """Link to all that is installed here except Holdfast, whose editable installation is here."""
    links.mkdir()
    for entry in Path(sysconfig.get_path("purelib")).iterdir():
        if not entry.name.startswith(_NOT_LINKED):
            (links / entry.name).symlink_to(entry)


def _environment() -> dict[str, str]:
    bare = {k: v for k, v in bare_environment().items() if not k.startswith(("PYTHON", "PIP_"))}
    return bare | {"PYTHONUTF8": "1", "TEMPORAL_CONFIG_FILE": os.devnull}
