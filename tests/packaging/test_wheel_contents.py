"""Tests that the wheel contains what it needs, and nothing that belongs to others."""

import ast
import hashlib
import tomllib
import zipfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.packaging.conftest import ROOT, BuiltPackages
from tests.support.packages.fresh_environment import FreshEnvironment

pytestmark = pytest.mark.slow

# Alembic runs the first with a context of its own.
NOT_IMPORTED = {"holdfast.migrations.env", "holdfast.__main__"}
REPOSITORY_ONLY = (
    "holdfast/evals/citations.py",
    "holdfast/evals/extractive_offline.py",
    "holdfast/evals/kopl/",
    "holdfast/evals/offline/",
    "holdfast/evals/oracle/",
    "holdfast/evals/peers/",
    "holdfast/evals/proof/",
    "holdfast/evals/recall/",
    "holdfast/evals/weak/",
)
IMPORT_ALL = """
import importlib, sys
for name in sys.argv[1:]:
    assert importlib.import_module(name).__file__.startswith(sys.prefix), name
"""


def contents(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def modules(wheel: Path) -> dict[str, str]:
    """The source of each module by its name."""
    return {
        name.removesuffix(".py").removesuffix("/__init__").replace("/", "."): source.decode()
        for name, source in contents(wheel).items()
        # The versions of the schema begin with a number: Alembic alone imports them.
        if name.endswith(".py") and "/versions/" not in name
    }


def our_imports(source: str) -> Iterator[str]:
    """The modules of Holdfast that the source imports, also within functions."""
    for part in ast.walk(ast.parse(source)):
        names: list[str] = []
        if isinstance(part, ast.Import):
            names = [alias.name for alias in part.names]
        elif isinstance(part, ast.ImportFrom) and part.module:
            names = [part.module, *(f"{part.module}.{alias.name}" for alias in part.names)]
        yield from (name for name in names if is_module_of_ours(name))


@cache
def is_module_of_ours(name: str) -> bool:
    """Whether the repository has the module; other names are classes and functions."""
    path = ROOT.joinpath(*name.split("."))
    is_ours = name.partition(".")[0] == "holdfast"
    return is_ours and (path.with_suffix(".py").exists() or (path / "__init__.py").exists())


def test_holdfast_is_the_only_name_that_the_wheel_installs(packages: BuiltPackages) -> None:
    names = {path.partition("/")[0] for path in contents(packages.wheel)}
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]

    assert names == {"holdfast", f"holdfast-{version}.dist-info"}


def test_the_sdist_and_the_tree_give_the_same_wheel(packages: BuiltPackages) -> None:
    from_sdist, from_tree = contents(packages.wheel), contents(packages.tree_wheel)

    assert sorted(from_sdist) == sorted(from_tree)
    assert [name for name, data in from_sdist.items() if from_tree[name] != data] == []


def test_the_wheel_leaves_out_what_only_the_repository_uses(packages: BuiltPackages) -> None:
    names = list(contents(packages.wheel))

    assert [name for name in names if name.startswith(REPOSITORY_ONLY)] == []
    assert [name for name in REPOSITORY_ONLY if not (ROOT / name).exists()] == []


@pytest.mark.long
def test_the_wheel_contains_every_module_of_ours_that_it_imports(packages: BuiltPackages) -> None:
    shipped = modules(packages.wheel)

    missing = [
        f"{name} imports {imported}"
        for name, source in shipped.items()
        for imported in our_imports(source)
        if imported not in shipped
    ]

    assert len(shipped) > 500
    assert missing == []


@pytest.mark.long
def test_every_module_of_the_wheel_can_be_imported_from_it(
    installed: FreshEnvironment, packages: BuiltPackages, tmp_path: Path
) -> None:
    names = sorted(modules(packages.wheel).keys() - NOT_IMPORTED)

    done = installed.run("python", "-c", IMPORT_ALL, *names, folder=tmp_path)

    assert (done.returncode, done.stderr) == (0, "")


def test_the_wheel_contains_every_file_of_the_page(packages: BuiltPackages) -> None:
    folder = ROOT / "holdfast" / "web"
    shown = {
        str(file.relative_to(ROOT)): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in (*folder.glob("static/*"), *folder.glob("templates/*"))
    }
    shipped = {
        name: hashlib.sha256(data).hexdigest() for name, data in contents(packages.wheel).items()
    }

    assert {name.rpartition(".")[2] for name in shown} == {"css", "jinja", "js", "svg"}
    assert shown.items() <= shipped.items()
