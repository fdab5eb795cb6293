"""List the table files of a folder under names that are valid in SQL."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from holdfast.models.errors import BadConfiguration, BadInput
from holdfast.models.frozen_model import Frozen
from holdfast.tools.holdfast_toml import read_toml_table

TABLE_ENDINGS = (".csv", ".tsv", ".parquet")
MAX_FILES = 500
_GLOB = re.compile(r"[*?\[\]{}]")
_ODD = re.compile(r"[^a-z0-9_]+")


class TablesSettings(Frozen):
    """The table `[tables]` of `holdfast.toml`."""

    folder: str
    """The folder, relative to the file."""


@dataclass(frozen=True)
class TableFile:
    """A table file; `address` is its path below the folder."""

    name: str
    path: Path
    address: str


def read_table_folder(path: Path | None) -> "TableFolder | None":
    """Return the configured folder; None if the file names none.

    Raises:
        BadConfiguration: the table is wrong, or the folder does not exist.
    """
    table = read_toml_table(path, "tables", TablesSettings, {"folder": 'folder = "data"'})
    if table is None or path is None:
        return None
    folder = (path.parent / table.folder).resolve()
    if not table.folder.strip() or not folder.is_dir():
        raise BadConfiguration(f"{path}: tables.folder names no folder: {str(folder)!r}")
    return TableFolder(folder)


@dataclass(frozen=True)
class TableFolder:
    """A folder of table files."""

    folder: Path

    def tables(self) -> dict[str, TableFile]:
        """Return the current files by table name, in order of their paths."""
        found: dict[str, TableFile] = {}
        for path in sorted(self._files())[:MAX_FILES]:
            address = path.relative_to(self.folder).as_posix()
            name = _unused_name(_sql_name(address), found)
            found[name] = TableFile(name, path, address)
        return found

    def faults(self) -> tuple[str, ...]:
        """Return why some files of the folder are not tables."""
        odd = [
            f"{each.name!r}: its name has one of * ? [ ] {{ }}; rename it"
            for each in self._candidates()
            if _GLOB.search(str(each))
        ]
        outside = [
            f"{each.name!r}: it leads out of the folder"
            for each in self._candidates()
            if not _GLOB.search(str(each)) and not self._is_in(each)
        ]
        return (*odd, *outside)

    def table(self, name: str) -> TableFile:
        """Return the table of this name.

        Raises:
            BadInput: there is no such table; the message names the tables.
        """
        known = self.tables()
        if name not in known:
            raise BadInput(f"there is no table {name[:80]!r}; tables: {_some(known)}")
        return known[name]

    def _files(self) -> Iterator[Path]:
        for each in self._candidates():
            # DuckDB would read such a name as a pattern for many files.
            if not _GLOB.search(str(each)) and self._is_in(each):
                yield each

    def _candidates(self) -> Iterator[Path]:
        return (
            each
            for each in self.folder.rglob("*")
            if each.suffix.lower() in TABLE_ENDINGS and each.is_file()
        )

    def _is_in(self, path: Path) -> bool:
        return path.resolve().is_relative_to(self.folder)


def _sql_name(address: str) -> str:
    stem = address.rsplit(".", 1)[0].lower()
    name = _ODD.sub("_", stem).strip("_") or "table"
    return f"t_{name}" if name[0].isdigit() or name in _reserved() else name


@lru_cache
def _reserved() -> frozenset[str]:
    """Return the words that SQL does not allow as a table name."""
    import duckdb  # in the part `tables`

    query = "select keyword_name from duckdb_keywords() where keyword_category <> 'unreserved'"
    with duckdb.connect(":memory:") as database:
        return frozenset(str(name) for (name,) in database.execute(query).fetchall())


def _unused_name(name: str, taken: dict[str, TableFile]) -> str:
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
