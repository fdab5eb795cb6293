"""Tests that every import contract is kept, and reports an import that breaks it."""

import shutil
import subprocess
import sysconfig
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROGRAM = Path(sysconfig.get_path("scripts")) / "lint-imports"
CONFIG = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
CONTRACTS = [contract["name"] for contract in CONFIG["contracts"]]

# One import that breaks each contract: the file that gets it, and the imported module.
BREACHES = {
    "The Python client imports nothing else of Holdfast": (
        "holdfast/python_client/sent_files.py",
        "holdfast.models.errors",
    ),
    "Each floor knows only the floors below it": (
        "holdfast/planning/plans/plan_graph.py",
        "holdfast.storage.core.database",
    ),
    "The wheel imports nothing that it does not contain": (
        "holdfast/evals/measures/answer_metrics.py",
        "benchmarks.setup.job_graphs",
    ),
    "Activities: job lifecycle over plans over the kinds of work over the runtime": (
        "holdfast/activities/runtime/pending_task_states.py",
        "holdfast.activities.plans.plan_approval",
    ),
    "Storage: views over jobs over plans over single subjects over the core": (
        "holdfast/storage/core/database_outage.py",
        "holdfast.storage.jobs.job_rows",
    ),
    "Workflows see of activities only their interfaces": (
        "holdfast/workflows/activity_calls.py",
        "holdfast.activities.runtime.bounded_gather",
    ),
    "Activities do not know the workflow": (
        "holdfast/activities/runtime/bounded_gather.py",
        "holdfast.workflows.activity_calls",
    ),
    "Only storage sees the tables": (
        "holdfast/settings.py",
        "holdfast.storage.core.tables.metadata",
    ),
    "Planning and models touch nothing of the world": ("holdfast/models/errors.py", "asyncio"),
    "Roles, tools and storage know no Temporal": (
        "holdfast/tools/sandbox/child_process.py",
        "temporalio",
    ),
    "No cycles inside a folder": (
        "holdfast/roles/dialogue/role_definition.py",
        "holdfast.roles.dialogue.model_dialogue",
    ),
}


def lint_imports(folder: Path) -> str:
    """The report of `lint-imports` on a tree."""
    command = [str(PROGRAM), "--no-cache"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A copy of the packages that the contracts name."""
    for package in CONFIG["root_packages"]:
        ignore = shutil.ignore_patterns("__pycache__", "collection")
        shutil.copytree(ROOT / package, tmp_path / package, ignore=ignore)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


@pytest.mark.slow
def test_every_contract_is_kept_and_reports_an_import_that_breaks_it(tree: Path) -> None:
    sound = lint_imports(tree)
    for file, module in BREACHES.values():
        path = tree / file
        path.write_text(f"{path.read_text()}\n\nimport {module}\n")
    broken = lint_imports(tree)

    assert set(BREACHES) == set(CONTRACTS)
    assert [name for name in CONTRACTS if f"{name} KEPT" not in sound] == []
    assert [name for name in CONTRACTS if f"{name} BROKEN" not in broken] == []
