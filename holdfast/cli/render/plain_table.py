"""Draw a table without lines that never breaks a word; a narrow terminal gets a list instead."""

from collections.abc import Iterable, Sequence
from itertools import zip_longest

from rich.console import Console, ConsoleOptions, RenderResult
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from holdfast.cli.render.terminal_output import printable

STATUS_STYLES = {
    "done": "green",
    "running": "yellow",
    "failed": "red",
    "superseded": "dim",
    "cancelled": "dim",
    "pending": "",
    "queued": "",
}
_MAX_WORD_WIDTH = 24
"""A longer word, such as an address, may be broken."""
_MIN_PROSE_WIDTH = 12
"""A narrower column of sentences is hard to read."""
_INDENT = 4
_GAP = 2
"""Spaces between two columns."""


class PlainTable:
    """A table; what tools and models wrote is shown as text, never read as markup."""

    def __init__(self, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
        self._columns = tuple(columns)
        self._rows = [tuple(_cell(value) for value in row) for row in rows]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        widths = self._column_widths(options.max_width)
        if widths:
            yield self._table(widths)
        else:
            yield from self._list()

    def _table(self, widths: Sequence[int]) -> Table:
        table = Table(box=None, header_style="bold", pad_edge=False)
        for number, (column, width) in enumerate(zip(self._columns, widths, strict=True)):
            # The first column is an id, which people copy: it stays in one piece.
            table.add_column(column, overflow="fold", no_wrap=number == 0, width=width)
        for row in self._rows:
            table.add_row(*row)
        return table

    def _list(self) -> Iterable[Text | Padding]:
        """The rows below each other, each value on a line of its own behind its column's name."""
        for first, *others in self._rows:
            yield first
            for column, cell in zip(self._columns[1:], others, strict=True):
                if cell.plain:
                    line = Text.assemble((f"{column}: ", "bold"), cell)
                    yield Padding(line, (0, 0, 0, _INDENT), expand=False)

    def _column_widths(self, available: int) -> list[int]:
        """The width of each column; empty if the columns do not fit without breaking a word."""
        cells = list(zip_longest(*self._rows, fillvalue=Text()))
        columns = [
            [Text(column), *(cells[number] if cells else ())]
            for number, column in enumerate(self._columns)
        ]
        full = [max(cell.cell_len for cell in column) for column in columns]
        least = [
            width if number == 0 else min(width, _least_width(column))
            for number, (column, width) in enumerate(zip(columns, full, strict=True))
        ]
        room = available - _GAP * (len(columns) - 1) - sum(least)
        return _shared_out(room, least, full) if room >= 0 else []


def plain_table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> PlainTable:
    """A table without lines."""
    return PlainTable(columns, rows)


def _least_width(cells: Sequence[Text]) -> int:
    """The width that the longest word needs, or a sentence."""
    words = max(_longest_word(cell) for cell in cells)
    is_prose = any(cell.plain.count(" ") > 1 for cell in cells[1:])
    return max(words, _MIN_PROSE_WIDTH) if is_prose else words


def _longest_word(cell: Text) -> int:
    widths = (Text(word).cell_len for word in cell.plain.split())
    return min(_MAX_WORD_WIDTH, max(widths, default=0))


def _shared_out(room: int, least: Sequence[int], full: Sequence[int]) -> list[int]:
    """The least widths with the room given to the columns that want more, narrowest first."""
    widths = list(least)
    wanting = [number for number in range(len(widths)) if full[number] > widths[number]]
    while room > 0 and wanting:
        narrowest = min(wanting, key=lambda number: widths[number])
        widths[narrowest] += 1
        room -= 1
        if widths[narrowest] == full[narrowest]:
            wanting.remove(narrowest)
    return widths


def _cell(value: object) -> Text:
    if isinstance(value, Text):
        return value
    text = "" if value is None else str(value)
    return Text(printable(text), style=STATUS_STYLES.get(text, ""))
