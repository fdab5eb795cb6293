"""Print text and tables for people, JSON for programs, and progress on standard error."""

import json
import sys
from collections.abc import Sequence

from pydantic import BaseModel
from rich.console import Console

from holdfast.models.text.terminal_text import escape_json, shorten_text

_WIDTH_WITHOUT_TERMINAL = 240
_MIN_KEPT_SHARE = 0.6
"""A text is cut at the end of a word, unless so little of it would be left."""


def console() -> Console:
    """Standard output; without a terminal it has no colours and is wide enough for a row."""
    width = None if sys.stdout.isatty() else _WIDTH_WITHOUT_TERMINAL
    return Console(file=sys.stdout, highlight=False, width=width)


def print_progress(line: str) -> None:
    """Print progress or a hint to standard error; standard output is for results."""
    sys.stderr.write(f"{printable(line)}\n")
    sys.stderr.flush()


def print_json(value: BaseModel | Sequence[BaseModel] | dict[str, object]) -> None:
    """Print one JSON document to standard output."""
    print_json_text(json.dumps(_json_value(value), indent=2, ensure_ascii=False))


def print_json_text(text: str) -> None:
    """Print JSON to standard output; characters that could steer a terminal are escaped."""
    sys.stdout.write(f"{escape_json(text)}\n")


def print_text(text: str) -> None:
    """Print text without control characters to standard output."""
    sys.stdout.write(printable(text if text.endswith("\n") else f"{text}\n"))


def printable(text: str) -> str:
    """Text without control characters, so that a page cannot steer the terminal."""
    return "".join(sign if sign.isprintable() or sign == "\n" else " " for sign in text)


def count_with_noun(number: int, noun: str, plural: str = "") -> str:
    """`1 replan`, `2 replans`; `plural` is for a noun that takes more than an s."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {plural or f'{noun}s'}"


def shortened_line(text: str, width: int) -> str:
    """The text on one line; a longer text is cut at the end of a word, with an ellipsis."""
    line = " ".join(text.split())
    if len(line) <= width:
        return line
    words = line[:width].rpartition(" ")[0].rstrip(",;:")
    if len(words) < _MIN_KEPT_SHARE * width:
        return shorten_text(line, width)
    return f"{words}…"


def _json_value(value: object) -> object:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if isinstance(value, list | tuple):
        return [_json_value(item) for item in value]
    return value
