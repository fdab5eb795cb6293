"""Name the command and the files with which Holdfast's own programs run in a sandbox."""

import sys
from pathlib import Path
from typing import NamedTuple

import holdfast

_PACKAGE_FOLDERS = ("site-packages", "dist-packages")
OWN_ENVIRONMENT = {"LANG": "C.UTF-8"}
"""The whole environment of our programs: that of the worker contains secrets."""


class OwnProgram(NamedTuple):
    """The command that runs a module of ours, and the files that it reads."""

    command: tuple[str, ...]
    read: tuple[Path, ...]


def own_program(module: str) -> OwnProgram:
    """Return how to run the function `main` of the module in a process of its own."""
    # The interpreter itself, because links to it may lead through folders that nobody sees.
    python = Path(sys.executable).resolve()
    root = Path(holdfast.__file__).resolve().parents[1]
    libraries = [path for path in map(Path, sys.path) if _is_library(path)]
    searched = [str(path) for path in dict.fromkeys([*libraries, root])]
    # As code: neither its environment nor its working folder decides what is imported.
    code = f"import sys; sys.path[:] = {searched!r}\nfrom {module} import main; main()"
    read = (python.parent.parent, Path(sys.base_prefix).resolve(), *libraries, *_package(root))
    return OwnProgram((str(python), "-I", "-S", "-c", code), read)


def _is_library(path: Path) -> bool:
    """Return True if the folder is Python's own or has installed packages."""
    bases = {Path(sys.base_prefix), Path(sys.base_prefix).resolve()}
    return path.is_absolute() and (
        path.name in _PACKAGE_FOLDERS or any(path.is_relative_to(base) for base in bases)
    )


def _package(root: Path) -> list[Path]:
    """Return the folder of our package and, in a checkout, what its links lead to."""
    package = root / "holdfast"
    links = [entry.resolve() for entry in package.iterdir() if entry.is_symlink()]
    return [package, *links]
