"""Typed values of a knowledge base: strings, quantities with a unit, years and dates."""

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Literal, TypeAlias

Op: TypeAlias = Literal["=", "!=", "<", ">"]


class ValueSort(StrEnum):
    """What sort of value it is."""

    STRING = "string"
    QUANTITY = "quantity"
    YEAR = "year"
    DATE = "date"


@dataclass(frozen=True)
class Value:
    """A value; `amount` is the number of a quantity or a year, `text` what people read."""

    sort: ValueSort
    text: str
    amount: float = 0.0
    unit: str = ""

    @property
    def is_time(self) -> bool:
        return self.sort in (ValueSort.YEAR, ValueSort.DATE)

    @property
    def year(self) -> int:
        sign = -1 if self.text.startswith("-") else 1
        return sign * int(self.text.lstrip("-").split("-")[0])


def read_stored_value(raw: dict[str, Any]) -> Value:
    """A value as the knowledge base's file has it."""
    sort, value = ValueSort(raw["type"]), raw["value"]
    if sort is ValueSort.QUANTITY:
        unit = str(raw.get("unit") or "1")
        return Value(sort, _amount_text(float(value), unit), float(value), unit)
    return Value(sort, str(value))


def parse_value(text: str, sort: ValueSort) -> Value | None:
    """The value that an argument or a result names; None where it is of another sort."""
    told = text.strip()
    if sort is ValueSort.QUANTITY:
        found = re.fullmatch(r"([-+]?\d+(?:\.\d+)?)(?:\s+(.+))?", told)
        if not found:
            return None
        amount, unit = float(found.group(1)), found.group(2) or "1"
        return Value(sort, _amount_text(amount, unit), amount, unit)
    if sort is ValueSort.YEAR:
        return Value(sort, told) if re.fullmatch(r"-?\d{1,4}", told) else None
    if sort is ValueSort.DATE:
        return Value(sort, told) if re.fullmatch(r"-?\d{1,4}-\d{1,2}-\d{1,2}", told) else None
    return Value(ValueSort.STRING, told)


def parse_time(text: str) -> Value | None:
    """A date or a year."""
    return parse_value(text, ValueSort.DATE) or parse_value(text, ValueSort.YEAR)


def is_true_comparison(there: Value, op: Op, asked: Value) -> bool | None:
    """Whether `there op asked`; None where the two cannot be compared.

    Of times `=` means that the asked one contains the other: a date is in its year.
    """
    if there.is_time and asked.is_time:
        return _times(there, op, asked)
    if there.sort is not asked.sort or there.unit != asked.unit:
        return None
    if there.sort is ValueSort.QUANTITY:
        return _ordered(there.amount, op, asked.amount)
    return {"=": there.text == asked.text, "!=": there.text != asked.text}.get(op)


def _times(there: Value, op: Op, asked: Value) -> bool:
    if op in ("=", "!="):
        return _contains(asked, there) is (op == "=")
    if there.sort is ValueSort.DATE and asked.sort is ValueSort.DATE:
        return _ordered(_day(there), op, _day(asked))
    return _ordered(there.year, op, asked.year)


def _contains(asked: Value, there: Value) -> bool:
    if asked.sort is ValueSort.YEAR:
        return there.year == asked.year
    return there.sort is ValueSort.DATE and _day(there) == _day(asked)


def _day(value: Value) -> tuple[int, int, int]:
    _, month, day = value.text.lstrip("-").split("-")
    return value.year, int(month), int(day)


def _ordered(one: Any, op: Op, other: Any) -> bool:  # noqa: ANN401 - numbers, or days
    found: bool = {"=": one == other, "!=": one != other, "<": one < other, ">": one > other}[op]
    return found


def _amount_text(amount: float, unit: str) -> str:
    number = str(int(amount)) if amount.is_integer() else str(amount)
    return number if unit == "1" else f"{number} {unit}"
