"""Read the cell of a table row: the row that the question names, in the column that it asks for.

Rows are those of a Markdown table, whose header stands above them, and those that the readers of
tables write as `column: value; column: value`.
"""

import re
from collections.abc import Iterator, Mapping, Set
from typing import NamedTuple

from holdfast.roles.extractive.extraction.candidate_scoring import ScoredCandidate
from holdfast.roles.extractive.extraction.entity_query import EntityQuery, SentenceMatch
from holdfast.roles.extractive.extraction.response_passages import (
    ParsedResponse,
    ResponsePassage,
    ResponseSentence,
)
from holdfast.roles.extractive.text.noun_kinds import ValueKind
from holdfast.roles.extractive.text.value_candidates import find_candidates, proper_names
from holdfast.roles.extractive.text.words_and_sentences import stems

CELL_CONFIDENCE = 0.9
"""Of a value in the one row that the question names and the one column that it asks for."""

_LABELLED = re.compile(r"^[^:;|.]{1,60}: [^;]*(?:; [^:;|.]{1,60}: [^;]*)+$")
_RULE = re.compile(r"^[|\s:-]+$")
_UNIT_OF_COLUMN = re.compile(r" in \w+(?: \w+)?$")
"""`cost in pounds` is asked for as `cost`; the quoted row says the unit."""
_LEAST_CELLS = 2
_MOST_ROWS = 500
_KINDS = {
    ValueKind.NUMBER: (ValueKind.NUMBER, ValueKind.YEAR),
    ValueKind.DATE: (ValueKind.DATE, ValueKind.YEAR),
    ValueKind.YEAR: (ValueKind.YEAR, ValueKind.DATE),
    ValueKind.PERSON: (ValueKind.NAME, ValueKind.PLACE),
    ValueKind.PLACE: (ValueKind.NAME, ValueKind.PLACE),
}
"""What a cell must hold to answer a question for the kind; other kinds take any cell."""


class TableRow(NamedTuple):
    """A row of a table: its text as it stands in the passage, and its cells by their column."""

    text: str
    cells: Mapping[str, str]


class _Cell(NamedTuple):
    """A cell that may answer: how many of the asked words its column and its row say."""

    words: int
    value: str
    row: TableRow
    passage: ResponsePassage


def best_cell(reading: ParsedResponse, wanted: EntityQuery) -> ScoredCandidate | None:
    """Return the cell that the question asks for; None if no cell, or more than one, fits best."""
    cells = sorted(_fitting_cells(reading, wanted), key=lambda each: -each.words)
    if not cells:
        return None
    first = cells[0]
    if any(each.words == first.words and each.value != first.value for each in cells[1:]):
        return None
    sentence = ResponseSentence(first.row.text, frozenset(stems(first.row.text)), 0)
    place = SentenceMatch(first.passage, sentence, 1.0, 1.0, is_named=False)
    return ScoredCandidate(first.value, place, 0.0)


def table_rows(text: str) -> Iterator[TableRow]:
    """Yield the rows of the tables in a text."""
    header: list[str] = []
    for line in text.splitlines()[:_MOST_ROWS]:
        said = line.strip()
        if _LABELLED.match(said):
            pairs = (part.split(": ", 1) for part in said.split("; ") if ": " in part)
            yield TableRow(said, {label.strip(): value.strip() for label, value in pairs})
        elif said.startswith("|") and said.endswith("|"):
            cells = [each.strip() for each in said.strip("|").split("|")]
            if not header:
                header = cells
            elif not _RULE.match(said) and len(cells) == len(header):
                yield TableRow(said, dict(zip(header, cells, strict=True)))
        else:
            header = []


def column_of(value: str, text: str) -> str:
    """Return the column of a value in a table row; empty if the text is no such row."""
    for row in table_rows(text):
        for column, cell in row.cells.items():
            if value in cell:
                return column
    return ""


def _fitting_cells(reading: ParsedResponse, wanted: EntityQuery) -> Iterator[_Cell]:
    asked = wanted.known
    for passage in reading.passages:
        for row in table_rows(passage.text):
            if len(row.cells) < _LEAST_CELLS:
                continue
            names = _naming_cell(row, wanted)
            if names is None:
                continue
            named = frozenset(stems(row.cells[names]))
            first = next(iter(row.cells))
            rows_are = frozenset(stems(first))
            # A question for things, as `which risk`, names its column: `opened` is of no risk.
            noun = wanted.noun if wanted.kind is ValueKind.ANY else frozenset[str]()
            for label, value in row.cells.items():
                column = frozenset(stems(_UNIT_OF_COLUMN.sub("", label)))
                # Of a table of sites `manager` asks for the column `site manager`.
                told = column & (asked | wanted.noun)
                is_asked = told and noun <= column <= told | rows_are
                if is_asked and label != names and _is_of_kind(value, wanted.kind):
                    yield _Cell(len(told) + len(named), value, row, passage)


def _naming_cell(row: TableRow, wanted: EntityQuery) -> str | None:
    """The column whose cell the question names: the first one, or else one with a name.

    A name in another column may be that of a row of its own. So the question has to say what the
    person is to the row, as `keeper`, and nothing that the row does not say.
    """
    asked = wanted.known
    (first, key), *others = row.cells.items()
    if _is_said(key, asked):
        return first
    if not wanted.about <= frozenset(stems(row.text)):
        return None
    rows_are = frozenset(stems(first))
    names = (label for label, value in others if _is_name(value) and _is_said(value, asked))
    return next((label for label in names if (frozenset(stems(label)) - rows_are) & asked), None)


def _is_said(value: str, asked: Set[str]) -> bool:
    said = frozenset(stems(value))
    return bool(said) and said <= asked


def _is_name(value: str) -> bool:
    """True if the cell is a name of two words or more, as a person's is, and nothing else."""
    return " " in value and value in {each.value for each in proper_names(value)}


def _is_of_kind(value: str, kind: ValueKind) -> bool:
    """True if the cell holds what is asked for."""
    if not value:
        return False
    kinds = _KINDS.get(kind)
    return kinds is None or any(each.kind in kinds for each in find_candidates(value))
