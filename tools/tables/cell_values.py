"""Convert values of DuckDB to bounded JSON, and JSON rows to typed columns of DuckDB."""

import json
import math
from collections.abc import Mapping, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal

from pydantic import JsonValue

from holdfast.models.errors import BadInput
from holdfast.models.text.storable_text import storable_text

MAX_CELL_CHARS = 1_000
MAX_INPUT_ROWS = 20_000
MAX_COLUMNS = 200
_MAX_DEPTH = 8
_BIGGEST_INTEGER = 2**63


def cell_as_json(value: object, deep: int = _MAX_DEPTH) -> JsonValue:  # noqa: C901 - case by case
    """Return one value as JSON; long text is cut, and types that JSON lacks become text."""
    match value:
        case None | bool() | int():
            return value
        case float():
            return value if math.isfinite(value) else None
        case Decimal() if value.is_finite():
            return int(value) if value == value.to_integral_value() else float(value)
        case str():
            return _cut(value)
        case datetime() | date() | time():
            return value.isoformat()
        case timedelta():
            return str(value)
        case bytes() | bytearray() | memoryview():
            data = bytes(value)
            return f"({len(data)} bytes) {data[:20].hex()}"
        case Mapping() if deep:
            return {
                _cut(str(key)): cell_as_json(each, deep - 1)
                for key, each in list(value.items())[:200]
            }
        case list() | tuple() if deep:
            return [cell_as_json(each, deep - 1) for each in value[:200]]
        case _:
            return _cut(str(value))


def _cut(text: str) -> str:
    plain = storable_text(text)
    if len(plain) <= MAX_CELL_CHARS:
        return plain
    return f"{plain[:MAX_CELL_CHARS]}… ({len(plain)} characters)"


def input_rows_as_json(name: str, rows: JsonValue) -> tuple[str, str]:
    """Return a table's rows as JSON and its column types, as DuckDB's `from_json` needs them.

    Raises:
        BadInput: the value is not a list of rows, or has too many.
    """
    if not isinstance(rows, list) or not all(isinstance(each, dict) for each in rows) or not rows:
        raise BadInput(f'inputs[{name[:80]!r}] must be a list of rows, such as [{{"year": 2020}}]')
    if len(rows) > MAX_INPUT_ROWS:
        raise BadInput(f"inputs[{name!r}] has {len(rows)} rows; the most is {MAX_INPUT_ROWS}")
    columns: dict[str, list[JsonValue]] = {}
    for row in rows:
        assert isinstance(row, dict)
        for column, value in row.items():
            columns.setdefault(column, []).append(value)
    _check_columns(name, list(columns))
    types = {column: _kind(values) for column, values in columns.items()}
    plain = [{key: _given(value) for key, value in row.items()} for row in rows]  # type: ignore[union-attr]
    return json.dumps(plain), json.dumps([types])


def _check_columns(name: str, columns: Sequence[str]) -> None:
    if not columns or len(columns) > MAX_COLUMNS:
        raise BadInput(
            f"inputs[{name!r}] has {len(columns)} columns; it must have 1 to {MAX_COLUMNS}"
        )
    small = [column.lower() for column in columns]
    for column in columns:
        if not column.strip() or not column.isprintable() or small.count(column.lower()) > 1:
            raise BadInput(f"inputs[{name!r}]: column {column[:80]!r} has no name of its own")


def _kind(values: Sequence[JsonValue]) -> str:
    there = [each for each in values if each is not None]
    if there and all(isinstance(each, bool) for each in there):
        return "BOOLEAN"
    numbers = [e for e in there if isinstance(e, int | float) and not isinstance(e, bool)]
    if not there or len(numbers) < len(there):
        return "VARCHAR"
    if all(isinstance(each, int) and abs(each) < _BIGGEST_INTEGER for each in numbers):
        return "BIGINT"
    return "DOUBLE"


def _given(value: JsonValue) -> JsonValue:
    if isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return storable_text(value) if isinstance(value, str) else value
