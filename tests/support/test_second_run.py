"""Tests that a whole run's failures are run once more, alone, and that nothing else is forgiven."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent.parent
CONFTEST = """
from pathlib import Path
from tests.support.conformance_run import ConformanceRun
from tests.support.second_run import FailedTests


def pytest_configure(config):
    conformance = ConformanceRun(Path("page.md"), Path("build/conformance.json"))
    config.pluginmanager.register(conformance)
    config.pluginmanager.register(FailedTests(conformance))
"""
SETTINGS = """
[pytest]
testpaths = checks
addopts = -m "not long"
markers = conformance: a row
    long: left out
"""
PASSES = "def test_well(): pass\n"
HEAD = "from pathlib import Path\nimport pytest\n"


def by_chance(name: str = "chance", row: str = "ABC-01") -> str:
    """Return a test that fails at first and passes from then on."""
    return f"""
@pytest.mark.conformance("{row}")
def test_by_{name}():
    seen = Path("{name}")
    was_seen = seen.exists()
    seen.touch()
    assert was_seen
"""


BROKEN = "def test_broken(): assert False\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "checks").mkdir()
    (tmp_path / "page.md").write_text("| ABC-01 | It works. | tested |\n")
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "pytest.ini").write_text(SETTINGS)
    return tmp_path


def twice(project: Path, tests: str, *options: str) -> subprocess.CompletedProcess[str]:
    """Run the tests as `make test` does: a whole run, and after a failure the second run."""
    (project / "checks/test_it.py").write_text(HEAD + tests)
    python = f"{sys.executable} -m"
    whole = f"{python} pytest -p no:cacheprovider {' '.join(options)}"
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    return subprocess.run(
        ["sh", "-c", f"{whole} || {python} tests.support.second_run"],
        cwd=project,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("options", [(), ("-p", "xdist", "-n", "2")], ids=["one process", "two"])
def test_a_test_that_fails_by_chance_is_named_and_passes_alone(
    project: Path, options: tuple[str, ...]
) -> None:
    ended = twice(project, PASSES + by_chance(), *options)

    assert ended.returncode == 0, ended.stdout
    assert (
        "1 failed above; each runs once more, alone:\n  checks/test_it.py::test_by" in ended.stdout
    )
    assert "PASSED ONLY ALONE (mend these tests):\n  checks/test_it.py::test_by" in ended.stdout


@pytest.mark.parametrize(
    "tests",
    [
        by_chance() + BROKEN,
        by_chance(row="ABC-02"),  # no test shows ABC-01, which no second run can mend
        "".join(by_chance(f"chance_{n}") for n in range(11)),
    ],
    ids=["a true fault", "a row without a test", "many failures"],
)
def test_other_faults_still_fail(project: Path, tests: str) -> None:
    ended = twice(project, tests)

    assert ended.returncode == 1, ended.stdout


def test_a_whole_run_that_is_cut_off_is_not_forgiven(project: Path) -> None:
    ended = twice(project, by_chance(), "-x")

    assert ended.returncode == 1, ended.stdout
