"""Tests that a command imports nothing heavy before its arguments are accepted."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.long_parameters import only_long
from tests.support.services.bare_environment import bare_environment

pytestmark = pytest.mark.slow

_HEAVY = frozenset({"temporalio", "sqlalchemy", "openai", "mcp", "psycopg", "httpx2", "alembic"})


def imported_packages(folder: Path, *words: str) -> set[str]:
    """The top-level packages that `holdfast` imports when it runs with these words."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "holdfast", *words],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env=bare_environment() | {"HOLDFAST_HOME": str(folder / "home")},
    )
    lines = (line for line in done.stderr.splitlines() if line.startswith("import time:"))
    return {line.rpartition("|")[2].strip().partition(".")[0] for line in lines}


def test_help_imports_neither_a_model_of_data_nor_an_event_loop(tmp_path: Path) -> None:
    packages = imported_packages(tmp_path, "--help")

    assert "typer" in packages
    assert packages & (_HEAVY | {"pydantic", "asyncio"}) == set()


@pytest.mark.parametrize(
    "words",
    [
        ("submit", "--set", "slots=-3", "Who?"),
        only_long(("submit", "--set", "nonsense", "Who?")),
        only_long(("submit", "--preset", "no-such-preset", "Who?")),
        only_long(("submit", "--model", "gpt", "Who?")),
        ("submit", "--docs", "no-such-folder", "Who?"),
        only_long(("submit", "--id", " ", "Who?")),
        only_long(("submit", "")),
        ("run", ""),
        only_long(("run", "--dry-run", "")),
        only_long(("run", "--review", "")),
        ("list", "--status", "unknown"),
        only_long(("list", "--preset", "unknown")),
        ("report", "JOB", "--format", "odt"),
        only_long(("resume", "JOB", "--set", "nonsense")),
        ("steer", "JOB", ""),
        ("corpus", "add", "no-such-folder"),
        only_long(("corpus", "search", "words", "--filter", "nonsense")),
    ],
)
def test_a_refused_argument_imports_nothing_heavy(tmp_path: Path, words: tuple[str, ...]) -> None:
    packages = imported_packages(tmp_path, *words)

    assert "typer" in packages
    assert packages & _HEAVY == set()
