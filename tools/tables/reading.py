"""Rows as an answer: as values, and as lines of text that evidence can quote."""

from pydantic import JsonValue

from models.text import shortened
from tools.tables.engine import Rows

_ROWS_A_PASSAGE = 20
_LONGEST_TITLE = 300


def answer_of(found: Rows, sql: str) -> dict[str, JsonValue]:
    """`columns`, `rows` as objects, `note`, and `passages`: each row a line below its names."""
    rows: list[JsonValue] = [dict(zip(found.columns, row, strict=True)) for row in found.rows]
    answer: dict[str, JsonValue] = {
        "columns": list(found.columns), "rows": rows, "passages": _passages(found, sql),
    }  # fmt: skip
    if found.is_cut:
        answer["note"] = f"only the first {len(rows)} rows; there are more: sum, filter or order"
    return answer


def _passages(found: Rows, sql: str) -> list[JsonValue]:
    """The address names the files that were asked, but is not theirs.

    What a query gives need not stand in any of them: `select 'any words' from kpis`.
    """
    address = f"query over {', '.join(found.addresses)[:900] or 'no table'}"
    asked = shortened(" ".join(sql.split()), _LONGEST_TITLE)
    if not found.rows:
        return [{"address": address, "title": asked, "text": "The query gives no rows."}]
    passages: list[JsonValue] = []
    start = 0
    for first in range(0, len(found.rows), _ROWS_A_PASSAGE):
        rows = found.rows[first : first + _ROWS_A_PASSAGE]
        text = "\n".join(_line(found.columns, row) for row in rows)
        passages.append(
            {
                "address": address, "title": asked, "text": text, "start": start,
                "heading": f"rows {first + 1} to {first + len(rows)}",
            }
        )  # fmt: skip
        start += len(text) + 1
    return passages


def _line(columns: tuple[str, ...], row: tuple[JsonValue, ...]) -> str:
    pairs = zip(columns, row, strict=True)
    return "; ".join(f"{name}: {_said(value)}" for name, value in pairs)


def _said(value: JsonValue) -> str:
    if isinstance(value, str):
        return " ".join(value.split())
    return "" if value is None else str(value)
