"""Tests that the installed Holdfast names modules that are foreign, damaged or gone."""

import json
from pathlib import Path

import pytest

from tests.packaging.conftest import BuiltPackages
from tests.support.packages.fresh_environment import FreshEnvironment
from tests.support.packages.stand_in_wheels import build_stand_in

pytestmark = pytest.mark.slow


FIND_FAULTS = """
import json
from holdfast.installed_modules import find_module_faults
print(json.dumps(find_module_faults()))
"""


def faults(environment: FreshEnvironment, folder: Path) -> list[tuple[str, str]]:
    """What `holdfast doctor` says of the packages, each fault with its remedy."""
    done = environment.run("python", "-P", "-c", FIND_FAULTS, folder=folder)
    assert done.returncode == 0, done.stderr
    return [(detail, remedy) for detail, remedy in json.loads(done.stdout)]


@pytest.mark.long
def test_a_wheel_that_is_alone_has_no_fault(installed: FreshEnvironment, tmp_path: Path) -> None:
    assert faults(installed, tmp_path) == []


def test_doctor_names_who_overwrote_a_module_of_holdfast_and_then_that_it_is_gone(
    environment: FreshEnvironment, packages: BuiltPackages, tmp_path: Path
) -> None:
    file = "holdfast/models/__init__.py"
    intruder = build_stand_in(tmp_path, "intruder", {file: ""})

    environment.install(packages.wheel, intruder)
    [(detail, remedy)] = faults(environment, tmp_path)

    assert detail.startswith(f"intruder 1.0 installed {file} into a package of holdfast")
    assert remedy.startswith("uninstall intruder; then reinstall the wheel of Holdfast")

    environment.uninstall("intruder")
    [(detail, remedy)] = faults(environment, tmp_path)

    assert " has lost 1 of its " in detail
    assert detail.endswith(f" modules: {file}")
    assert remedy.startswith("reinstall the wheel of Holdfast with `pip install")


@pytest.mark.long
def test_doctor_names_a_distribution_that_adds_a_file_to_the_package_holdfast(
    environment: FreshEnvironment, packages: BuiltPackages, tmp_path: Path
) -> None:
    file = "holdfast/of_somebody_else.py"
    intruder = build_stand_in(tmp_path, "intruder", {file: ""})

    environment.install(packages.wheel, intruder)
    [(detail, remedy)] = faults(environment, tmp_path)

    assert detail.startswith(f"intruder 1.0 installed {file} into a package of holdfast")
    assert remedy.startswith("uninstall intruder; then reinstall the wheel of Holdfast")


@pytest.mark.long
def test_doctor_names_the_distribution_whose_module_hides_a_needed_one(
    environment: FreshEnvironment, packages: BuiltPackages, tmp_path: Path
) -> None:
    intruder = build_stand_in(tmp_path, "intruder", {"mcp/__init__.py": ""})
    environment.install(packages.wheel, intruder)

    [(detail, remedy)] = faults(environment, tmp_path)

    assert f"Python imports mcp from {environment.site_packages}/mcp, not from mcp " in detail
    assert detail.endswith("; intruder 1.0 installed it")
    assert remedy == "uninstall intruder"


@pytest.mark.long
def test_doctor_names_a_distribution_that_overwrote_a_needed_one(
    environment: FreshEnvironment, packages: BuiltPackages, tmp_path: Path
) -> None:
    # Both in one folder, in place of the distribution that is linked in the other.
    files = {"mdurl/__init__.py": ""}
    both = [build_stand_in(tmp_path, name, files) for name in ("mdurl", "intruder")]
    environment.install(packages.wheel, *both)

    [(detail, remedy)] = faults(environment, tmp_path)

    assert detail == "intruder 1.0 installed mdurl/__init__.py into a package of mdurl 1.0"
    assert remedy.startswith("uninstall intruder; then reinstall mdurl==1.0 with `pip install")
