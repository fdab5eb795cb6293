"""Tests that the installed Holdfast names modules that are foreign, damaged or gone."""

import json
from pathlib import Path

import pytest

from tests.support.packages.fresh_environment import FreshEnvironment
from tests.support.packages.stand_in_wheels import build_stand_in

pytestmark = pytest.mark.slow


def faults(environment: FreshEnvironment, folder: Path) -> list[tuple[str, str]]:
    """What `holdfast doctor` says of the packages, each with its remedy."""
    done = environment.run("holdfast", "doctor", "--json", folder=folder)
    results = [each for each in json.loads(done.stdout) if each["part"] == "packages"]
    return [(each["detail"], each["remedy"]) for each in results if each["status"] == "failed"]


def test_doctor_names_a_distribution_that_owns_files_of_holdfast(
    installed: FreshEnvironment, tmp_path: Path
) -> None:
    intruder = build_stand_in(tmp_path, "intruder", {"holdfast/models/__init__.py": ""})

    before = faults(installed, tmp_path)
    installed.install(intruder)
    [(detail, remedy)] = faults(installed, tmp_path)

    assert before == []
    assert detail.startswith("intruder 1.0 installed holdfast/models/__init__.py into a package of")
    assert remedy.startswith("uninstall intruder; then reinstall the wheel of Holdfast")


def test_doctor_says_that_modules_of_holdfast_are_gone(
    installed: FreshEnvironment, tmp_path: Path
) -> None:
    intruder = build_stand_in(tmp_path, "intruder", {"holdfast/models/__init__.py": ""})
    installed.install(intruder)

    installed.uninstall("intruder")
    [(detail, remedy)] = faults(installed, tmp_path)

    assert " has lost 1 of its " in detail
    assert detail.endswith(" modules: holdfast/models/__init__.py")
    assert remedy.startswith("reinstall the wheel of Holdfast with `pip install")


def test_doctor_names_the_distribution_whose_module_hides_a_needed_one(
    installed: FreshEnvironment, tmp_path: Path
) -> None:
    installed.install(build_stand_in(tmp_path, "intruder", {"mcp/__init__.py": ""}))

    [(detail, remedy)] = faults(installed, tmp_path)

    assert f"Python imports mcp from {installed.site_packages}/mcp, not from mcp " in detail
    assert detail.endswith("; intruder 1.0 installed it")
    assert remedy == "uninstall intruder"


def test_doctor_names_a_distribution_that_overwrote_a_needed_one(
    installed: FreshEnvironment, tmp_path: Path
) -> None:
    # Both in one folder, in place of the distribution that is linked in the other.
    for name in ("mdurl", "intruder"):
        installed.install(build_stand_in(tmp_path, name, {"mdurl/__init__.py": ""}))

    [(detail, remedy)] = faults(installed, tmp_path)

    assert detail == "intruder 1.0 installed mdurl/__init__.py into a package of mdurl 1.0"
    assert remedy.startswith("uninstall intruder; then reinstall mdurl==1.0 with `pip install")
