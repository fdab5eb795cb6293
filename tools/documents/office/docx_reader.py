"""Read the headings, paragraphs, lists and tables of a Word file as Markdown."""

import io
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from holdfast.models.errors import BadInput
from holdfast.tools.documents.table_text import rows_as_text

if TYPE_CHECKING:
    from docx.document import Document
    from docx.table import Table, _Cell
    from docx.text.paragraph import Paragraph

_HEADING = re.compile(r"heading ([1-6])", re.IGNORECASE)
_MAX_DEPTH = 5  # nested tables


def docx_text(name: str, file: io.BytesIO, budget: int) -> str:
    """Return the blocks of the file, separated by blank lines.

    Raises:
        BadInput: the file has more than `budget` characters.
    """
    # Imported here: 0.2 s of start-up that only workers which read such files should pay.
    import docx

    blocks: list[str] = []
    for block in _blocks(name, docx.Document(file), budget, 0):
        budget -= len(block)
        if budget < 0:
            raise BadInput(f"{name!r} holds more text than is read of one file: split it")
        blocks.append(block)
    return "\n\n".join(blocks)


def _blocks(name: str, within: "Document | _Cell", budget: int, depth: int) -> Iterator[str]:
    from docx.table import Table

    for block in within.iter_inner_content():
        if isinstance(block, Table):
            if depth < _MAX_DEPTH:
                yield rows_as_text(name, _rows(name, block, budget, depth), budget)
        elif words := _paragraph(block):
            yield words


def _paragraph(paragraph: "Paragraph") -> str:
    words = paragraph.text.strip()
    style = (paragraph.style.name or "") if paragraph.style is not None else ""
    if not words:
        return ""
    if match := _HEADING.fullmatch(style):
        return f"{'#' * int(match[1])} {' '.join(words.split())}"
    if style == "Title":
        return f"# {' '.join(words.split())}"
    return f"- {words}" if style.startswith("List") else words


def _rows(name: str, table: "Table", budget: int, depth: int) -> Iterator[list[str]]:
    from docx.table import _Cell

    for row in table.rows:
        # Not `row.cells`: it repeats a cell for each column of its span, even for a billion.
        cells = (_Cell(tc, table) for tc in row._tr.tc_lst)  # noqa: SLF001 - as above
        yield [" ".join(_blocks(name, cell, budget, depth + 1)).strip() for cell in cells]
