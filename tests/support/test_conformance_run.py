"""Tests that a whole run fails if a row that is called tested has no passing test."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.conformance_run import Outcome, unproven_rows

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent.parent
PAGE = "| ABC-01 | It works. | tested |\n| ABC-02 | It will. | planned |\n"
CONFTEST = """
from pathlib import Path
from tests.support.conformance_run import ConformanceRun


def pytest_addoption(parser):
    parser.addoption("--row")


def pytest_configure(config):
    config.pluginmanager.register(ConformanceRun(Path("page.md"), Path("build/record.json")))
"""
SETTINGS = """
[pytest]
testpaths = checks
addopts = -m "not long"
markers = conformance: a row
    slow: a slow one
    long: left out
"""
HEAD = "import pytest\n\ndef test_something_else(): pass\n\n@pytest.mark.conformance('ABC-01')\n"
SHOWN = "def test_it(): assert "


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "checks").mkdir()
    for name in ("one", "two"):
        (tmp_path / "checks" / name).mkdir()
        (tmp_path / "checks" / name / "conftest.py").write_text("")
        (tmp_path / "checks" / name / f"test_{name}.py").write_text("def test_it(): pass\n")
    (tmp_path / "page.md").write_text(PAGE)
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "pytest.ini").write_text(SETTINGS)
    return tmp_path


def run(project: Path, test: str, *options: str) -> subprocess.CompletedProcess[str]:
    (project / "checks/test_it.py").write_text(HEAD + test + "\n")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *options]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    return subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True)


@pytest.mark.parametrize("options", [(), ("-p", "xdist", "-n", "2")], ids=["one process", "two"])
def test_a_whole_run_fails_where_the_tests_of_a_row_only_skip(
    project: Path, options: tuple[str, ...]
) -> None:
    ended = run(project, "@pytest.mark.skip(reason='no data')\n" + SHOWN + "True", *options)

    assert ended.returncode == 1, ended.stdout
    assert "UNPROVEN ABC-01: page.md calls it tested" in ended.stdout
    assert "checks/test_it.py::test_it skipped" in ended.stdout
    assert json.loads((project / "build/record.json").read_text()) == {
        "ABC-01": {"checks/test_it.py::test_it": "skipped"}
    }


def test_a_whole_run_that_shows_every_row_ends_well(project: Path) -> None:
    ended = run(project, SHOWN + "True")

    assert (ended.returncode, "UNPROVEN" in ended.stdout) == (0, False), ended.stdout


@pytest.mark.parametrize(
    "options",
    [("checks/test_it.py",), ("-m", "not slow"), ("-k", "it"), ("-x",), ("--row", "ABC-01")],
    ids=lambda options: options[0],
)
def test_a_part_of_the_tests_proves_nothing_and_fails_nothing(
    project: Path, options: tuple[str, ...]
) -> None:
    ended = run(project, "@pytest.mark.skip(reason='no data')\n" + SHOWN + "True", *options)

    assert (ended.returncode, "UNPROVEN" in ended.stdout) == (0, False), ended.stdout


@pytest.mark.parametrize(
    ("outcomes", "is_proven"),
    [
        ([Outcome("passed")], True),
        ([Outcome("skipped", "Skipped: needs root")], True),
        ([Outcome("skipped", "Skipped: the data are not there")], False),
        ([Outcome("skipped", "Skipped: the data are not there"), Outcome("passed")], True),
        ([Outcome("failed"), Outcome("passed")], False),
        ([], False),
    ],
)
def test_a_row_is_proven_by_a_passing_test_or_by_what_the_machine_lacks(
    outcomes: list[Outcome], is_proven: bool
) -> None:
    found = {"ABC-01": {str(at): each for at, each in enumerate(outcomes)}} if outcomes else {}

    assert (unproven_rows({"ABC-01": "tested", "ABC-02": "planned"}, found) == []) is is_proven
