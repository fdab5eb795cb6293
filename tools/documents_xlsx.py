"""The text of an Excel file: a heading for each sheet, and each row with its columns' names."""

import io
from collections.abc import Sequence
from datetime import datetime, time
from itertools import islice

from models.errors import BadInput
from tools.documents_rows import MAX_COLUMNS, MAX_ROWS, rows_as_text

_MAX_SHEETS = 200


def xlsx_text(name: str, file: io.BytesIO, budget: int) -> str:
    """The sheets in order; a formula counts as the value that was last computed.

    Raises:
        BadInput: it holds more than `budget` characters, or more rows or columns than are read.
    """
    # Imported here: 0.3 s that a worker which reads no such files should not pay.
    import openpyxl

    book = openpyxl.load_workbook(file, read_only=True, data_only=True, keep_links=False)
    try:
        if len(book.worksheets) > _MAX_SHEETS:
            raise BadInput(f"{name!r} has more than {_MAX_SHEETS} sheets: split it")
        blocks: list[str] = []
        for sheet in book.worksheets:
            # The size that a file claims may be anything; without it rows are read as they come.
            sheet.reset_dimensions()
            # One more of each than is read, so that what is too large is refused and not cut. The
            # width stands here, or a cell in the last of 16,384 columns would widen every row.
            values = sheet.iter_rows(max_col=MAX_COLUMNS + 1, values_only=True)
            rows = (_texts(row) for row in islice(values, MAX_ROWS + 1))
            words = rows_as_text(name, rows, budget)
            budget -= len(words)
            if words:
                blocks += [f"## Sheet: {' '.join(sheet.title.split())}", words]
        return "\n\n".join(blocks)
    finally:
        book.close()


def _texts(row: Sequence[object]) -> list[str]:
    # The rows that a file skips come as rows of nothing: a million of them must cost little.
    return [] if row.count(None) == len(row) else [_text(value) for value in row]


def _text(value: object) -> str:
    match value:
        case None:
            return ""
        case datetime() if value.time() == time():
            return value.date().isoformat()
        case datetime():
            return value.isoformat(sep=" ")
        case float() if value.is_integer() and abs(value) < 2**53:
            return str(int(value))
    return str(value)
