"""The points of a chart, read from rows of data; every fault names the row and the value."""

import math
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from enum import StrEnum
from typing import NamedTuple, TypeAlias

from pydantic import JsonValue

from models.base import Frozen
from models.errors import BadInput
from models.text import shortened

MOST_POINTS = 5_000
MOST_SERIES = 20
MOST_BARS = 200
_LONGEST_LABEL = 100
_DATE = re.compile(
    r"\d{4}-\d{2}(-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d{1,6})?)?(Z|[+-]\d{2}:\d{2})?)?)?"
)
_FIGURE = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?")

Row: TypeAlias = Mapping[str, JsonValue]


class Scale(StrEnum):
    """What the horizontal axis counts."""

    NUMBER = "number"
    TIME = "time"
    NAMES = "names"


class Point(NamedTuple):
    """One mark of the chart; `series` is empty where there is one series alone."""

    x: float | str
    y: float
    series: str


class Points(Frozen):
    """The points in the order of the rows, and what the horizontal axis counts."""

    points: tuple[Point, ...]
    scale: Scale
    left_out: int = 0
    """Rows without a value."""

    @property
    def series(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(each.series for each in self.points))


def rows_of(data: JsonValue) -> Sequence[Row]:
    """Rows from a list of objects, or from an object of lists of the same length.

    Raises:
        BadInput: it is neither, or holds too much.
    """
    if isinstance(data, dict):
        return _transposed(data)
    if not isinstance(data, list) or not data:
        raise BadInput(
            'data must be rows, such as [{"year": 2020, "sales": 1.5}], or columns, such as '
            f'{{"year": [2020], "sales": [1.5]}}; got {_short(data)}'
        )
    if len(data) > MOST_POINTS:
        raise BadInput(f"data has {len(data)} rows; the most is {MOST_POINTS}: take fewer, or sums")
    rows = [each for each in data if isinstance(each, dict)]
    if len(rows) < len(data):
        number, odd = next((n, e) for n, e in enumerate(data, 1) if not isinstance(e, dict))
        raise BadInput(
            f"row {number} of data must be an object of column to value, not {_short(odd)}"
        )
    return rows


def _transposed(columns: Mapping[str, JsonValue]) -> Sequence[Row]:
    lists = {name: each for name, each in columns.items() if isinstance(each, list)}
    if not lists or len(lists) < len(columns):
        odd = next((name for name in columns if name not in lists), "")
        raise BadInput(f"column {odd!r} of data must be a list of values")
    lengths = {name: len(each) for name, each in lists.items()}
    if len(set(lengths.values())) > 1:
        raise BadInput(f"the columns of data differ in length: {_short(dict(lengths))}")
    return rows_of(
        [dict(zip(lists, row, strict=True)) for row in zip(*lists.values(), strict=True)]
    )


def points_of(
    rows: Sequence[Row], *, x: str, y: Sequence[str], series: str, names: bool = False
) -> Points:
    """The points of columns `y` over column `x`; several `y` are a series each.

    `series` names the column that says which series a row is of, or is empty. With `names` the
    horizontal axis has a place for each value, whatever it is.

    Raises:
        BadInput: names the column, the row or the value that is not right, and what is.
    """
    _check_columns(rows, [x, *y, *([series] if series else [])])
    if series and len(y) > 1:
        raise BadInput("give either several y columns or a series column, not both")
    scale = Scale.NAMES if names else _scale(rows, x)
    found: list[Point] = []
    left_out = 0
    for number, row in enumerate(rows, 1):
        at = _place(row.get(x), scale, f"row {number}, {x!r}")
        for column in y:
            value = row.get(column)
            if at is None or value is None:
                left_out += 1
                continue
            name = _label(row.get(series)) if series else column if len(y) > 1 else ""
            found.append(Point(at, _number(value, f"row {number}, {column!r}"), name))
    return _checked(Points(points=tuple(found), scale=scale, left_out=left_out))


def _check_columns(rows: Sequence[Row], wanted: Sequence[str]) -> None:
    known = list(dict.fromkeys(name for row in rows for name in row))
    for name in wanted:
        if name not in known:
            columns = ", ".join(repr(each[:60]) for each in known[:20]) or "none"
            raise BadInput(f"there is no column {name[:60]!r} in data; columns: {columns}")


def _checked(points: Points) -> Points:
    if not points.points:
        raise BadInput("no row has both an x and a y value, so there is nothing to draw")
    if len(points.points) > MOST_POINTS:
        raise BadInput(f"these are {len(points.points)} points; the most is {MOST_POINTS}")
    if len(points.series) > MOST_SERIES:
        raise BadInput(f"these are {len(points.series)} series; the most is {MOST_SERIES}")
    places = len({each.x for each in points.points})
    if points.scale is Scale.NAMES and places > MOST_BARS:
        raise BadInput(f"the x axis has {places} names; the most is {MOST_BARS}")
    return points


def _scale(rows: Sequence[Row], x: str) -> Scale:
    values = [row[x] for row in rows if row.get(x) is not None]
    if all(isinstance(each, str) and _DATE.fullmatch(each) for each in values):
        return Scale.TIME
    if all(_is_number(each) for each in values):
        return Scale.NUMBER
    return Scale.NAMES


def _is_number(value: JsonValue) -> bool:
    if isinstance(value, str):
        return _FIGURE.fullmatch(value.strip()) is not None
    return isinstance(value, int | float) and not isinstance(value, bool)


def _place(value: JsonValue, scale: Scale, where: str) -> float | str | None:
    if value is None:
        return None
    if scale is Scale.NUMBER:
        return _number(value, where)
    if scale is Scale.TIME:
        return _date(str(value), where)
    return _label(value)


def _date(text: str, where: str) -> str:
    try:
        moment(text)
    except (ValueError, OverflowError) as odd:
        raise BadInput(f"{where}: {text!r} is no date: {odd}") from odd
    return text


def moment(date: str) -> float:
    """Milliseconds since 1970 in UTC; a date without a zone is one in UTC.

    Raises:
        ValueError: there is no such day or time.
    """
    found = datetime.fromisoformat(f"{date}-01" if len(date) == 7 else date)
    in_utc = found if found.tzinfo else found.replace(tzinfo=UTC)
    return in_utc.timestamp() * 1000


def _number(value: JsonValue, where: str) -> float:
    if _is_number(value):
        try:
            number = float(value)  # type: ignore[arg-type]  # a number, or text that reads as one
        except OverflowError:
            number = math.inf
        if math.isfinite(number):
            return number
    raise BadInput(
        f"{where}: {_short(value)} is not a finite number; write it as one, such as 1234.5"
    )


def _label(value: JsonValue) -> str:
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        value = int(value)
    text = value if isinstance(value, str) else "" if value is None else _short(value)
    return shortened(one_line(text), _LONGEST_LABEL)


def one_line(text: str) -> str:
    """The text on one line, without the signs that no drawing can hold."""
    return " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())


def _short(value: object) -> str:
    return shortened(repr(value), 80)
