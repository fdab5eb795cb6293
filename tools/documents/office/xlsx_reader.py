"""Read the sheets of an Excel file as text, each row with its column names."""

import io
from collections.abc import Sequence
from datetime import datetime, time
from itertools import islice

from holdfast.models.errors import BadInput
from holdfast.tools.documents.table_text import MAX_COLUMNS, MAX_ROWS, rows_as_text

_MAX_SHEETS = 200


def xlsx_text(name: str, file: io.BytesIO, budget: int) -> str:
    """Return the sheets in order; a formula appears as its last computed value.

    Raises:
        BadInput: the file has more than `budget` characters, or too many rows or columns.
    """
    # Imported here: 0.3 s of start-up that only workers which read such files should pay.
    import openpyxl

    book = openpyxl.load_workbook(file, read_only=True, data_only=True, keep_links=False)
    try:
        if len(book.worksheets) > _MAX_SHEETS:
            raise BadInput(f"{name!r} has more than {_MAX_SHEETS} sheets: split it")
        blocks: list[str] = []
        for sheet in book.worksheets:
            # The declared size may be wrong; without it rows are read as they come.
            sheet.reset_dimensions()
            # One row and column beyond the limit: a large sheet is rejected, not cut. The
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
    # Skipped rows come as empty rows: a million of them must be cheap.
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
