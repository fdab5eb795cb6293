"""Format the rows of a query as values and as quotable passages of text."""

from pydantic import JsonValue

from holdfast.models.text.terminal_text import shorten_text
from holdfast.tools.tables.query_engine import QueryRows

_ROWS_A_PASSAGE = 20
_MAX_TITLE_CHARS = 300


def answer_from_rows(result: QueryRows, sql: str) -> dict[str, JsonValue]:
    """Return `columns`, `rows` as objects, `note`, and `passages` with one line per row."""
    rows: list[JsonValue] = [dict(zip(result.columns, row, strict=True)) for row in result.rows]
    answer: dict[str, JsonValue] = {
        "columns": list(result.columns),
        "rows": rows,
        "passages": _passages(result, sql),
    }
    if result.is_cut:
        answer["note"] = f"only the first {len(rows)} rows; there are more: sum, filter or order"
    return answer


def _passages(result: QueryRows, sql: str) -> list[JsonValue]:
    """Return the rows as passages; their address names the queried files.

    It is not the address of a file, because a query may return text that is in no file:
    `select 'any words' from kpis`.
    """
    address = f"query over {', '.join(result.addresses)[:900] or 'no table'}"
    asked = shorten_text(" ".join(sql.split()), _MAX_TITLE_CHARS)
    if not result.rows:
        return [{"address": address, "title": asked, "text": "The query gives no rows."}]
    passages: list[JsonValue] = []
    start = 0
    for first in range(0, len(result.rows), _ROWS_A_PASSAGE):
        rows = result.rows[first : first + _ROWS_A_PASSAGE]
        text = "\n".join(_line(result.columns, row) for row in rows)
        passages.append(
            {
                "address": address,
                "title": asked,
                "text": text,
                "start": start,
                "heading": f"rows {first + 1} to {first + len(rows)}",
            }
        )
        start += len(text) + 1
    return passages


def _line(columns: tuple[str, ...], row: tuple[JsonValue, ...]) -> str:
    pairs = zip(columns, row, strict=True)
    return "; ".join(f"{name}: {_said(value)}" for name, value in pairs)


def _said(value: JsonValue) -> str:
    if isinstance(value, str):
        return " ".join(value.split())
    return "" if value is None else str(value)
