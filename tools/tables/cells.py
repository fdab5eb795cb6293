"""What the engine gives, as JSON of bounded size; and rows given as JSON, as a table of it."""

import json
import math
from collections.abc import Mapping, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal

from pydantic import JsonValue

from models.errors import BadInput
from tools.plain import plain_text

LONGEST_CELL = 1_000
MOST_GIVEN_ROWS = 20_000
MOST_COLUMNS = 200
_DEEPEST = 8
_BIGGEST_INTEGER = 2**63


def cell(value: object, deep: int = _DEEPEST) -> JsonValue:  # noqa: C901 - case by case
    """One value as JSON; text is cut, and what JSON has no kind for is text."""
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
            return {_cut(str(key)): cell(each, deep - 1) for key, each in list(value.items())[:200]}
        case list() | tuple() if deep:
            return [cell(each, deep - 1) for each in value[:200]]
        case _:
            return _cut(str(value))


def _cut(text: str) -> str:
    plain = plain_text(text)
    if len(plain) <= LONGEST_CELL:
        return plain
    return f"{plain[:LONGEST_CELL]}… ({len(plain)} characters)"


def given_rows(name: str, rows: JsonValue) -> tuple[str, str]:
    """A table's rows as JSON, and the type of each column, as the engine's `from_json` takes both.

    Raises:
        BadInput: these are no rows, or more than can be taken.
    """
    if not isinstance(rows, list) or not all(isinstance(each, dict) for each in rows) or not rows:
        raise BadInput(f'inputs[{name[:80]!r}] must be a list of rows, such as [{{"year": 2020}}]')
    if len(rows) > MOST_GIVEN_ROWS:
        raise BadInput(f"inputs[{name!r}] has {len(rows)} rows; the most is {MOST_GIVEN_ROWS}")
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
    if not columns or len(columns) > MOST_COLUMNS:
        raise BadInput(
            f"inputs[{name!r}] has {len(columns)} columns; it must have 1 to {MOST_COLUMNS}"
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
    return plain_text(value) if isinstance(value, str) else value
