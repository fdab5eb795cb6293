"""Modules of somebody else that are named like the folders of our repository."""

from collections.abc import Iterable
from pathlib import Path

OUR_FOLDERS = (
    "activities",
    "evals",
    "migrations",
    "models",
    "planning",
    "roles",
    "storage",
    "tools",
    "worker",
    "workflows",
)


def write_foreign_modules(folder: Path, names: Iterable[str]) -> None:
    """Write packages of these names into the folder; to import one of them fails."""
    for name in names:
        (folder / name).mkdir(parents=True)
        (folder / name / "__init__.py").write_text("raise ImportError('of somebody else')\n")
