"""Read a CSV file with any common separator as text."""

import csv
import io

from holdfast.models.errors import BadInput
from holdfast.tools.documents.metadata_cleaning import ParsedDocument
from holdfast.tools.documents.table_text import rows_as_text

_SEPARATORS = ",;\t|"
# The sniffer's patterns take quadratic time in unusual texts: 0.1 s for 4 KB at worst.
_SAMPLE = 4096


def read_csv(name: str, text: str, budget: int) -> ParsedDocument:
    """Return the rows of the table as text.

    Raises:
        BadInput: the file is not a CSV table, or is too large.
    """
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=_separator(text[:_SAMPLE]))
    try:
        return ParsedDocument("", rows_as_text(name, rows, budget))
    except csv.Error as error:
        raise BadInput(f"{name!r} is not a table that can be read: {error}") from error


def _separator(sample: str) -> str:
    try:
        return csv.Sniffer().sniff(sample, _SEPARATORS).delimiter
    except csv.Error:  # a single column, or too few rows to tell
        return max(_SEPARATORS, key=sample.partition("\n")[0].count)
