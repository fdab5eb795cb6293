"""The text of a Word file as Markdown: its headings, paragraphs, lists and tables in order."""

import io
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from models.errors import BadInput
from tools.documents_rows import rows_as_text

if TYPE_CHECKING:
    from docx.document import Document
    from docx.table import Table, _Cell
    from docx.text.paragraph import Paragraph

_HEADING = re.compile(r"heading ([1-6])", re.IGNORECASE)
_DEEPEST = 5  # tables in tables


def docx_text(name: str, file: io.BytesIO, budget: int) -> str:
    """The blocks of the file with a blank line between.

    Raises:
        BadInput: it holds more than `budget` characters.
    """
    # Imported here: 0.2 s that a worker which reads no such files should not pay.
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
            if depth < _DEEPEST:
                yield rows_as_text(name, _rows(name, block, budget, depth), budget)
        elif words := _paragraph(block):
            yield words


def _paragraph(paragraph: "Paragraph") -> str:
    words = paragraph.text.strip()
    style = (paragraph.style.name or "") if paragraph.style is not None else ""
    if not words:
        return ""
    if found := _HEADING.fullmatch(style):
        return f"{'#' * int(found[1])} {' '.join(words.split())}"
    if style == "Title":
        return f"# {' '.join(words.split())}"
    return f"- {words}" if style.startswith("List") else words


def _rows(name: str, table: "Table", budget: int, depth: int) -> Iterator[list[str]]:
    from docx.table import _Cell

    for row in table.rows:
        # Not `row.cells`: it repeats a cell for each column that it claims to span, a billion too.
        cells = (_Cell(tc, table) for tc in row._tr.tc_lst)  # noqa: SLF001 - as above
        yield [" ".join(_blocks(name, cell, budget, depth + 1)).strip() for cell in cells]
