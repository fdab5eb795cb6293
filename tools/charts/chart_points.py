"""Read the points of a chart from rows of data; errors name the row and the value."""

import math
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from enum import StrEnum
from typing import NamedTuple, TypeAlias

from pydantic import JsonValue

from holdfast.models.errors import BadInput
from holdfast.models.frozen_model import Frozen
from holdfast.models.text.terminal_text import shorten_text

MAX_POINTS = 5_000
MAX_SERIES = 20
MAX_BARS = 200
_MAX_LABEL_CHARS = 100
_DATE = re.compile(
    r"\d{4}-\d{2}(-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d{1,6})?)?(Z|[+-]\d{2}:\d{2})?)?)?"
)
_FIGURE = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?")

ChartRow: TypeAlias = Mapping[str, JsonValue]


class AxisScale(StrEnum):
    """The type of the horizontal axis."""

    NUMBER = "number"
    TIME = "time"
    NAMES = "names"


class ChartPoint(NamedTuple):
    """One mark of the chart; `series` is empty if there is only one series."""

    x: float | str
    y: float
    series: str


class ChartPoints(Frozen):
    """The points in the order of the rows, and the type of the horizontal axis."""

    points: tuple[ChartPoint, ...]
    scale: AxisScale
    left_out: int = 0
    """The number of rows without a value."""

    @property
    def series(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(each.series for each in self.points))


def parse_rows(data: JsonValue) -> Sequence[ChartRow]:
    """Return the rows of a list of objects, or of an object with lists of the same length.

    Raises:
        BadInput: the data has another form, or is too large.
    """
    if isinstance(data, dict):
        return _transposed(data)
    if not isinstance(data, list) or not data:
        raise BadInput(
            'data must be rows, such as [{"year": 2020, "sales": 1.5}], or columns, such as '
            f'{{"year": [2020], "sales": [1.5]}}; got {_short(data)}'
        )
    if len(data) > MAX_POINTS:
        raise BadInput(f"data has {len(data)} rows; the most is {MAX_POINTS}: take fewer, or sums")
    rows = [row for row in data if isinstance(row, dict)]
    if len(rows) < len(data):
        number, odd = next((n, e) for n, e in enumerate(data, 1) if not isinstance(e, dict))
        raise BadInput(
            f"row {number} of data must be an object of column to value, not {_short(odd)}"
        )
    return rows


def _transposed(columns: Mapping[str, JsonValue]) -> Sequence[ChartRow]:
    lists = {name: each for name, each in columns.items() if isinstance(each, list)}
    if not lists or len(lists) < len(columns):
        odd = next((name for name in columns if name not in lists), "")
        raise BadInput(f"column {odd!r} of data must be a list of values")
    lengths = {name: len(each) for name, each in lists.items()}
    if len(set(lengths.values())) > 1:
        raise BadInput(f"the columns of data differ in length: {_short(dict(lengths))}")
    return parse_rows(
        [dict(zip(lists, row, strict=True)) for row in zip(*lists.values(), strict=True)]
    )


def parse_points(
    rows: Sequence[ChartRow], *, x: str, y: Sequence[str], series: str, names: bool = False
) -> ChartPoints:
    """Return the points of columns `y` over column `x`; each of several `y` is a series.

    `series` is the column with the series of a row, or empty. With `names` the horizontal axis has
    a position for each distinct value, of any type.

    Raises:
        BadInput: a column, row or value is wrong; the message names it and the right form.
    """
    _check_columns(rows, [x, *y, *([series] if series else [])])
    if series and len(y) > 1:
        raise BadInput("give either several y columns or a series column, not both")
    scale = AxisScale.NAMES if names else _scale(rows, x)
    points: list[ChartPoint] = []
    left_out = 0
    for number, row in enumerate(rows, 1):
        at = _place(row.get(x), scale, f"row {number}, {x!r}")
        for column in y:
            value = row.get(column)
            if at is None or value is None:
                left_out += 1
                continue
            name = _label(row.get(series)) if series else column if len(y) > 1 else ""
            points.append(ChartPoint(at, _number(value, f"row {number}, {column!r}"), name))
    return _checked(ChartPoints(points=tuple(points), scale=scale, left_out=left_out))


def _check_columns(rows: Sequence[ChartRow], wanted: Sequence[str]) -> None:
    names = list(dict.fromkeys(name for row in rows for name in row))
    for name in wanted:
        if name not in names:
            columns = ", ".join(repr(each[:60]) for each in names[:20]) or "none"
            raise BadInput(f"there is no column {name[:60]!r} in data; columns: {columns}")


def _checked(points: ChartPoints) -> ChartPoints:
    if not points.points:
        raise BadInput("no row has both an x and a y value, so there is nothing to draw")
    if len(points.points) > MAX_POINTS:
        raise BadInput(f"these are {len(points.points)} points; the most is {MAX_POINTS}")
    if len(points.series) > MAX_SERIES:
        raise BadInput(f"these are {len(points.series)} series; the most is {MAX_SERIES}")
    places = len({each.x for each in points.points})
    if points.scale is AxisScale.NAMES and places > MAX_BARS:
        raise BadInput(f"the x axis has {places} names; the most is {MAX_BARS}")
    return points


def _scale(rows: Sequence[ChartRow], x: str) -> AxisScale:
    values = [row[x] for row in rows if row.get(x) is not None]
    if all(isinstance(each, str) and _DATE.fullmatch(each) for each in values):
        return AxisScale.TIME
    if all(_is_number(each) for each in values):
        return AxisScale.NUMBER
    return AxisScale.NAMES


def _is_number(value: JsonValue) -> bool:
    if isinstance(value, str):
        return _FIGURE.fullmatch(value.strip()) is not None
    return isinstance(value, int | float) and not isinstance(value, bool)


def _place(value: JsonValue, scale: AxisScale, where: str) -> float | str | None:
    if value is None:
        return None
    if scale is AxisScale.NUMBER:
        return _number(value, where)
    if scale is AxisScale.TIME:
        return _date(str(value), where)
    return _label(value)


def _date(text: str, where: str) -> str:
    try:
        epoch_milliseconds(text)
    except (ValueError, OverflowError) as odd:
        raise BadInput(f"{where}: {text!r} is no date: {odd}") from odd
    return text


def epoch_milliseconds(date: str) -> float:
    """Return milliseconds since 1970 in UTC; a date without a zone is in UTC.

    Raises:
        ValueError: the day or time does not exist.
    """
    moment = datetime.fromisoformat(f"{date}-01" if len(date) == 7 else date)
    in_utc = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
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
    return shorten_text(one_drawable_line(text), _MAX_LABEL_CHARS)


def one_drawable_line(text: str) -> str:
    """Return the text on one line, without characters that a drawing cannot contain."""
    return " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())


def _short(value: object) -> str:
    return shorten_text(repr(value), 80)
