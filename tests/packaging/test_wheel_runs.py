"""Tests that the installed wheel is the product, among foreign modules and without the
repository."""

import tomllib
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.packaging.conftest import ROOT
from tests.support.packages.foreign_modules import OUR_FOLDERS, write_foreign_modules
from tests.support.packages.fresh_environment import FreshEnvironment

pytestmark = pytest.mark.slow


def test_the_version_is_the_one_of_pyproject(installed: FreshEnvironment, tmp_path: Path) -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]

    done = installed.run("holdfast", "--version", folder=tmp_path)

    assert (done.stdout, done.stderr) == (f"holdfast {version}\n", "")


def test_the_demo_survives_a_killed_worker_among_modules_named_like_ours(
    installed: FreshEnvironment,
) -> None:
    with TemporaryDirectory(prefix="hf-") as temporary:
        folder, path, home = (Path(temporary, name) for name in ("work", "path", "home"))
        write_foreign_modules(folder, (*OUR_FOLDERS, "holdfast"))
        write_foreign_modules(path, OUR_FOLDERS)
        # The worker starts in the folder of this file.
        (folder / "holdfast.toml").touch()
        variables = {"HOLDFAST_HOME": str(home), "PYTHONPATH": str(path)}
        try:
            done = installed.run("holdfast", "demo", "--crash", folder=folder, **variables)
        finally:
            stopped = installed.run("holdfast", "down", folder=folder, **variables)

    assert done.returncode == 0, done.stderr
    assert "## Sources" in done.stdout
    assert "work continued" in done.stderr
    assert stopped.stdout == "stopped page, worker, Temporal, PostgreSQL\n"
