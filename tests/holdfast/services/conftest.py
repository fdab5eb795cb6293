"""Fixtures of the embedded services: homes of their own, none of whose processes is left."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from holdfast.services import stop_services
from tests.support.services.service_installation import ServiceInstallation


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """An environment that names no service of somebody's own."""
    for name in os.environ:
        if name.startswith(("HOLDFAST_", "OPENAI_", "TEMPORAL_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("TEMPORAL_CONFIG_FILE", os.devnull)
    monkeypatch.chdir(tmp_path)


@contextmanager
def _new_installation() -> Iterator[ServiceInstallation]:
    # Not pytest's tmp_path: a user other than root must reach the folder, by a short path.
    with tempfile.TemporaryDirectory(prefix="hf-") as folder:
        here = ServiceInstallation(Path(folder) / "home")
        yield here
        stop_services(here.settings)


@pytest.fixture
def installation() -> Iterator[ServiceInstallation]:
    with _new_installation() as here:
        yield here


@pytest.fixture
async def running(installation: ServiceInstallation) -> ServiceInstallation:
    await installation.up()
    return installation


@pytest.fixture(scope="module")
def installation_of_file() -> Iterator[ServiceInstallation]:
    with _new_installation() as here:
        yield here


@pytest.fixture
async def shared(installation_of_file: ServiceInstallation) -> ServiceInstallation:
    """An installation without a worker that the tests of a file share; what one killed is back."""
    await installation_of_file.up()
    return installation_of_file
