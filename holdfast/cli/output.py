"""How commands print: tables for people, JSON with stable names for programs."""

import json
import sys
from collections.abc import Iterable, Sequence

from pydantic import BaseModel
from rich.console import Console
from rich.table import Table
from rich.text import Text

from models.text import escaped_json, shortened

_WIDE = 240


STYLES = {
    "done": "green",
    "running": "yellow",
    "failed": "red",
    "superseded": "dim",
    "cancelled": "dim",
    "pending": "",
    "queued": "",
}


def console() -> Console:
    """Standard output; where it is no terminal, without colours and wide enough for a row."""
    width = None if sys.stdout.isatty() else _WIDE
    return Console(file=sys.stdout, highlight=False, width=width)


def say(line: str) -> None:
    """Progress and hints go to standard error, so that standard output stays the result."""
    sys.stderr.write(f"{printable(line)}\n")
    sys.stderr.flush()


def print_json(value: BaseModel | Sequence[BaseModel] | dict[str, object]) -> None:
    """One JSON document on standard output."""
    print_json_text(json.dumps(_plain(value), indent=2, ensure_ascii=False))


def print_json_text(text: str) -> None:
    """JSON on standard output, as it is but for what could steer a terminal: that is escaped."""
    sys.stdout.write(f"{escaped_json(text)}\n")


def print_text(text: str) -> None:
    """Text for people on standard output, whoever wrote it."""
    sys.stdout.write(printable(text if text.endswith("\n") else f"{text}\n"))


def table(columns: Iterable[str], rows: Iterable[Sequence[object]]) -> Table:
    """A plain table; what tools and models wrote is shown as text, never read as markup."""
    made = Table(box=None, header_style="bold", pad_edge=False)
    for number, column in enumerate(columns):
        # The first column is an id, which people copy: it stays in one piece.
        made.add_column(column, overflow="fold", no_wrap=number == 0)
    for row in rows:
        made.add_row(*(_cell(value) for value in row))
    return made


def _cell(value: object) -> Text:
    if isinstance(value, Text):
        return value
    text = "" if value is None else str(value)
    return Text(printable(text), style=STYLES.get(text, ""))


def printable(text: str) -> str:
    """Text without control characters, so that a page cannot steer the terminal."""
    return "".join(sign if sign.isprintable() or sign == "\n" else " " for sign in text)


def counted(number: int, noun: str) -> str:
    """`1 replan`, `2 replans`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def short(text: str, width: int) -> str:
    """The text on one line, cut with an ellipsis."""
    return shortened(" ".join(text.split()), width)


def _plain(value: object) -> object:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return value
