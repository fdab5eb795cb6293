"""Read the list of breakages, and apply one to a copy of the code."""

import ast
import tomllib
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from holdfast.models.frozen_model import Frozen

ROOT = Path(__file__).parent.parent.parent
LIST = Path(__file__).with_name("breakages.toml")


class Breakage(Frozen):
    """A small fault in one file, and the row that promises that it is none."""

    name: str
    row: str
    breaks: str
    """What no longer holds with it."""
    file: str
    text: str
    """The text that is replaced; it stands in the file once."""
    replacement: str
    tests: tuple[str, ...] = ()
    """The files to run, instead of all that carry the row; for rows with slow tests."""

    def broken(self, source: str) -> str:
        """The source with the breakage.

        Raises:
            ValueError: the text is not there once, so the breakage no longer fits the code.
        """
        count = source.count(self.text)
        if count != 1:
            raise ValueError(
                f"breakage {self.name}: its text stands {count} times in {self.file}, not once; "
                f"renew it in {LIST.name}"
            )
        return source.replace(self.text, self.replacement)

    def test_files(self) -> tuple[str, ...]:
        """The files with tests that carry the row."""
        return self.tests or files_by_row().get(self.row, ())


def all_breakages() -> tuple[Breakage, ...]:
    """The breakages of the list, in its order."""
    listed = tomllib.loads(LIST.read_text())["breakage"]
    return tuple(Breakage.model_validate(each) for each in listed)


def rows_in(tree: ast.AST) -> Iterator[str]:
    """The rows that `pytest.mark.conformance(...)` names, as a decorator or in `pytestmark`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "pytest.mark.conformance":
            yield from (ast.literal_eval(argument) for argument in node.args)


@cache
def files_by_row() -> dict[str, tuple[str, ...]]:
    """The test files that carry each row."""
    found: dict[str, list[str]] = {}
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        for row in set(rows_in(ast.parse(path.read_text()))):
            found.setdefault(row, []).append(str(path.relative_to(ROOT)))
    return {row: tuple(files) for row, files in found.items()}


def chosen_breakages(names: Iterable[str]) -> tuple[Breakage, ...]:
    """The breakages of these names or rows; all of the list without any.

    Raises:
        ValueError: no breakage has the name or the row.
    """
    wanted, known = list(names), all_breakages()
    for name in wanted:
        if not any(name in (each.name, each.row) for each in known):
            listed = ", ".join(each.name for each in known)
            raise ValueError(f"there is no breakage {name!r}; there are: {listed}")
    return tuple(each for each in known if not wanted or {each.name, each.row} & set(wanted))
