"""Reads a table of comma-separated values, whatever separates them."""

import csv
import io

from models.errors import BadInput
from tools.documents_metadata import Read
from tools.documents_rows import rows_as_text

_SEPARATORS = ",;\t|"
# The sniffer's patterns are quadratic in odd texts: 4 KB take 0.1 s at worst.
_SAMPLE = 4096


def read_csv(name: str, text: str, budget: int) -> Read:
    """The table's rows as text.

    Raises:
        BadInput: it is no such table, or too large.
    """
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=_separator(text[:_SAMPLE]))
    try:
        return Read("", rows_as_text(name, rows, budget))
    except csv.Error as error:
        raise BadInput(f"{name!r} is not a table that can be read: {error}") from error


def _separator(sample: str) -> str:
    try:
        return csv.Sniffer().sniff(sample, _SEPARATORS).delimiter
    except csv.Error:  # a single column, or too few rows to tell
        return max(_SEPARATORS, key=sample.partition("\n")[0].count)
