"""Which tables there are: the files of a folder by names that SQL can say."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import duckdb

from models.base import Frozen
from models.errors import BadConfiguration, BadInput
from tools.toml import read_table

ENDINGS = (".csv", ".tsv", ".parquet")
MOST_FILES = 500
_GLOB = re.compile(r"[*?\[\]{}]")
_ODD = re.compile(r"[^a-z0-9_]+")


class TablesTable(Frozen):
    """The table `[tables]` of `holdfast.toml`."""

    folder: str
    """Relative to the file."""


@dataclass(frozen=True)
class TableFile:
    """A file as a table; `address` is its path below the folder."""

    name: str
    path: Path
    address: str


def read_shelf(path: Path | None) -> "Shelf | None":
    """The folder that the file names, if it names one.

    Raises:
        BadConfiguration: the table is wrong, or there is no such folder.
    """
    table = read_table(path, "tables", TablesTable, {"folder": 'folder = "data"'})
    if table is None or path is None:
        return None
    folder = (path.parent / table.folder).resolve()
    if not table.folder.strip() or not folder.is_dir():
        raise BadConfiguration(f"{path}: tables.folder names no folder: {str(folder)!r}")
    return Shelf(folder)


@dataclass(frozen=True)
class Shelf:
    """A folder of files."""

    folder: Path

    def tables(self) -> dict[str, TableFile]:
        """The files by the names of their tables, as they are now, in order of their paths."""
        found: dict[str, TableFile] = {}
        for path in sorted(self._files())[:MOST_FILES]:
            address = path.relative_to(self.folder).as_posix()
            name = _free(_named(address), found)
            found[name] = TableFile(name, path, address)
        return found

    def faults(self) -> tuple[str, ...]:
        """Why files that look like tables are not among them."""
        odd = [
            f"{each.name!r}: its name has one of * ? [ ] {{ }}; rename it"
            for each in self._candidates() if _GLOB.search(str(each))
        ]  # fmt: skip
        outside = [
            f"{each.name!r}: it leads out of the folder"
            for each in self._candidates() if not _GLOB.search(str(each)) and not self._is_in(each)
        ]  # fmt: skip
        return (*odd, *outside)

    def table(self, name: str) -> TableFile:
        """The table of that name.

        Raises:
            BadInput: there is none; names those there are.
        """
        known = self.tables()
        if name not in known:
            raise BadInput(f"there is no table {name[:80]!r}; tables: {_some(known)}")
        return known[name]

    def _files(self) -> Iterator[Path]:
        for each in self._candidates():
            # The engine would read such a name as a pattern for many files.
            if not _GLOB.search(str(each)) and self._is_in(each):
                yield each

    def _candidates(self) -> Iterator[Path]:
        return (
            each
            for each in self.folder.rglob("*")
            if each.suffix.lower() in ENDINGS and each.is_file()
        )

    def _is_in(self, path: Path) -> bool:
        return path.resolve().is_relative_to(self.folder)


def _named(address: str) -> str:
    stem = address.rsplit(".", 1)[0].lower()
    name = _ODD.sub("_", stem).strip("_") or "table"
    return f"t_{name}" if name[0].isdigit() or name in _reserved() else name


@lru_cache
def _reserved() -> frozenset[str]:
    """Words that mean something else where a table's name stands."""
    query = "select keyword_name from duckdb_keywords() where keyword_category <> 'unreserved'"
    with duckdb.connect(":memory:") as database:
        return frozenset(str(name) for (name,) in database.execute(query).fetchall())


def _free(name: str, taken: dict[str, TableFile]) -> str:
    number = 2
    free = name
    while free in taken:
        free = f"{name}_{number}"
        number += 1
    return free


def _some(known: dict[str, TableFile]) -> str:
    names = list(known)
    more = f" and {len(names) - 30} more" if len(names) > 30 else ""
    return (", ".join(names[:30]) or "none") + more
