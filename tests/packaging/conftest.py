"""Build the sdist and the wheels once, and install the wheel into fresh environments."""

import subprocess
import sys
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.support.packages.fresh_environment import FreshEnvironment, create_fresh_environment

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class BuiltPackages:
    """What a release consists of, and the wheel that the tree gives without an sdist."""

    sdist: Path
    wheel: Path
    """Built from the sdist."""
    tree_wheel: Path


@pytest.fixture(scope="session")
def packages(tmp_path_factory: pytest.TempPathFactory) -> BuiltPackages:
    folder = tmp_path_factory.mktemp("packages")
    sdist = _build(ROOT, "sdist", folder / "sdist")
    with tarfile.open(sdist) as archive:
        archive.extractall(folder / "unpacked", filter="data")
    unpacked = folder / "unpacked" / sdist.name.removesuffix(".tar.gz")
    wheel = _build(unpacked, "wheel", folder / "wheel")
    return BuiltPackages(sdist, wheel, _build(ROOT, "wheel", folder / "tree"))


def _build(source: Path, target: str, into: Path) -> Path:
    command = [sys.executable, "-m", "hatchling", "build", "-t", target, "-d", str(into)]
    subprocess.run(command, cwd=source, check=True, capture_output=True, timeout=60)
    return next(into.iterdir())


@pytest.fixture
def environment(tmp_path: Path) -> FreshEnvironment:
    """An environment of the test's own with our dependencies, but not yet Holdfast."""
    return create_fresh_environment(tmp_path / "venv")


@pytest.fixture(scope="session")
def installed(packages: BuiltPackages) -> Iterator[FreshEnvironment]:
    """An environment with Holdfast from its wheel, in which tests install nothing else."""
    # Not pytest's folder: PostgreSQL's user must reach the environment, by a short path.
    with TemporaryDirectory(prefix="hf-") as folder:
        environment = create_fresh_environment(Path(folder, "venv"))
        environment.install(packages.wheel)
        yield environment
