"""Write the rows of a table as text, each row with its column names."""

import itertools
from collections.abc import Iterable, Iterator, Sequence

from holdfast.models.errors import BadInput

MAX_ROWS = 200_000
MAX_COLUMNS = 512
_MAX_NAME = 80


def rows_as_text(name: str, rows: Iterable[Sequence[str]], budget: int) -> str:
    """Return each row as `Column: value; Column: value`, separated by blank lines.

    The first row that is not empty names the columns, if its cells are distinct and not
    numbers; else the columns are called A, B, C. Empty cells are left out.

    Raises:
        BadInput: there are too many rows, columns or characters (`budget`).
    """
    filled = (row for row in _counted(name, rows) if any(row))
    first = next(filled, None)
    if first is None:
        return ""
    names = _names(first)
    body = filled if names else itertools.chain([first], filled)
    lines: list[str] = []
    for row in body:
        line = _line(row, names)
        budget -= len(line)
        if budget < 0:
            raise BadInput(f"{name!r} holds more text than is read of one table: split it")
        lines.append(line)
    # Search should find a table that has only a header.
    return "\n\n".join(lines or ["; ".join(name for name in first if name)])


def column_letters(column: int) -> str:
    """Return the letters of a column as in spreadsheets: A, B, ..., Z, AA."""
    name = ""
    column += 1
    while column:
        column, rest = divmod(column - 1, 26)
        name = chr(ord("A") + rest) + name
    return name


def _counted(name: str, rows: Iterable[Sequence[str]]) -> Iterator[Sequence[str]]:
    for number, row in enumerate(rows, start=1):
        if number > MAX_ROWS:
            raise BadInput(f"{name!r} has a table of more than {MAX_ROWS:,} rows: split it")
        if len(row) > MAX_COLUMNS and any(row[MAX_COLUMNS:]):
            raise BadInput(f"{name!r} has a table of more than {MAX_COLUMNS} columns: split it")
        yield [" ".join(cell.split()) for cell in row[:MAX_COLUMNS]]


def _names(row: Sequence[str]) -> Sequence[str]:
    """Return the row as column names; None if the cells do not look like names."""
    named = [cell for cell in row if cell]
    looks = len(set(named)) == len(named) and not any(map(_is_number, named))
    return [cell[:_MAX_NAME] for cell in row] if looks and len(named) > 1 else ()


def _is_number(cell: str) -> bool:
    try:
        float(cell.replace(",", ""))
    except ValueError:
        return False
    return True


def _line(row: Sequence[str], names: Sequence[str]) -> str:
    cells = (
        f"{(names[n] if n < len(names) else '') or column_letters(n)}: {cell}"
        for n, cell in enumerate(row)
        if cell
    )
    return "; ".join(cells)
