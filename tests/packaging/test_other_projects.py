"""Tests that Holdfast and projects with modules named like our folders leave each other alone."""

import json
from pathlib import Path

import pytest

from tests.packaging.conftest import BuiltPackages
from tests.support.long_parameters import only_long
from tests.support.packages.foreign_modules import OUR_FOLDERS, write_foreign_modules
from tests.support.packages.fresh_environment import FreshEnvironment
from tests.support.packages.stand_in_wheels import build_stand_in

pytestmark = pytest.mark.slow

# The first owns what llama-index-workflows owns; the second is any careless project.
OTHERS = {
    "owner-of-workflows": {"workflows/__init__.py": "OWNER = 'owner-of-workflows'\n"},
    "owner-of-models": {
        "models/__init__.py": "OWNER = 'owner-of-models'\n",
        "tools/__init__.py": "OWNER = 'owner-of-models'\n",
    },
}
PRINT_OWNERS = "import workflows, models, tools; print(workflows.OWNER, models.OWNER, tools.OWNER)"
ASK_NOBODY = """
import sys
from holdfast import Client
from holdfast.python_client import ServerUnreachable

with Client("http://127.0.0.1:9", patience_s=0) as client:
    try:
        client.jobs()
    except ServerUnreachable as error:
        print(type(error).__name__)
engine = ("holdfast.models", "holdfast.tools", "holdfast.workflows", "temporalio")
print([name for name in sys.modules if name.startswith(engine)])
"""
OWNERS = "owner-of-workflows owner-of-models owner-of-models\n"


@pytest.fixture
def stand_ins(tmp_path: Path) -> list[Path]:
    return [build_stand_in(tmp_path, name, files) for name, files in OTHERS.items()]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder in which nothing is importable."""
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


def agents(environment: FreshEnvironment, folder: Path, **variables: str) -> set[str]:
    """The agents of `holdfast agents`, which imports most of our modules and starts servers."""
    done = environment.run("holdfast", "agents", "--json", folder=folder, **variables)
    assert done.returncode == 0, done.stderr
    return {agent["name"] for agent in json.loads(done.stdout)}


@pytest.mark.conformance("API-06")
@pytest.mark.parametrize("order", ["holdfast last", only_long("holdfast first")])
@pytest.mark.long
def test_each_project_imports_its_own_modules_until_the_others_are_uninstalled(
    environment: FreshEnvironment,
    packages: BuiltPackages,
    stand_ins: list[Path],
    folder: Path,
    order: str,
) -> None:
    installations = [[packages.wheel], stand_ins]
    for wheels in installations if order == "holdfast first" else reversed(installations):
        environment.install(*wheels)

    # The client is imported next to the modules of the others.
    done = environment.run("python", "-c", f"{PRINT_OWNERS}\n{ASK_NOBODY}", folder=folder)

    assert done.stderr == ""
    assert done.stdout == f"{OWNERS}ServerUnreachable\n[]\n"
    assert "generalist" in agents(environment, folder)

    environment.uninstall(*OTHERS)

    assert "generalist" in agents(environment, folder)


@pytest.mark.long
def test_uninstalling_holdfast_leaves_the_others_whole(
    environment: FreshEnvironment, packages: BuiltPackages, stand_ins: list[Path], folder: Path
) -> None:
    environment.install(packages.wheel, *stand_ins)

    environment.uninstall("holdfast")
    others = environment.run("python", "-c", PRINT_OWNERS, folder=folder)

    assert (others.stdout, others.stderr) == (OWNERS, "")
    assert not (environment.site_packages / "holdfast").exists()


@pytest.mark.long
def test_modules_in_the_working_folder_hide_none_of_ours(
    installed: FreshEnvironment, folder: Path
) -> None:
    write_foreign_modules(folder, OUR_FOLDERS)
    # A folder of data: Python prefers any package of that name.
    (folder / "holdfast").mkdir()

    done = installed.run("python", "-m", "holdfast", "agents", "--json", folder=folder)

    assert done.returncode == 0, done.stderr
