"""Read the slides of a PowerPoint file as Markdown."""

import io
from collections.abc import Iterable, Iterator
from typing import Any

from holdfast.models.errors import BadInput
from holdfast.tools.documents.table_text import rows_as_text

_MAX_DEPTH = 8  # nested groups of shapes


def pptx_text(name: str, file: io.BytesIO, budget: int) -> str:
    """Return the slides in order, each with a heading `## Slide 3: TITLE` and its notes last.

    Raises:
        BadInput: the file has more than `budget` characters.
    """
    # Imported here: 0.3 s of start-up that only workers which read such files should pay.
    import pptx

    blocks: list[str] = []
    for number, slide in enumerate(pptx.Presentation(file).slides, start=1):
        for block in _slide(name, slide, number, budget):
            budget -= len(block)
            if budget < 0:
                raise BadInput(f"{name!r} holds more text than is read of one file: split it")
            blocks.append(block)
    return "\n\n".join(blocks)


def _slide(name: str, slide: Any, number: int, budget: int) -> Iterator[str]:  # noqa: ANN401 - python-pptx ships no types
    title = slide.shapes.title
    heading = " ".join(title.text_frame.text.split()) if title is not None else ""
    body = [block for block in _shapes(name, slide.shapes, title, budget, 0) if block]
    notes = slide.notes_slide.notes_text_frame if slide.has_notes_slide else None
    if notes is not None and notes.text.strip():
        body.append(f"Notes: {notes.text.strip()}")
    if heading or body:
        yield f"## Slide {number}: {heading}" if heading else f"## Slide {number}"
        # A slide with only a title is a passage as well.
        yield from body or [heading]


def _shapes(
    name: str,
    shapes: Iterable[Any],
    title: Any,  # noqa: ANN401 - as above
    budget: int,
    depth: int,
) -> Iterator[str]:
    for shape in shapes:
        if title is not None and shape.shape_id == title.shape_id:
            continue
        if hasattr(shape, "shapes"):
            if depth < _MAX_DEPTH:
                yield from _shapes(name, shape.shapes, None, budget, depth + 1)
        elif getattr(shape, "has_table", False):
            rows = ([cell.text for cell in row.cells] for row in shape.table.rows)
            yield rows_as_text(name, rows, budget)
        elif shape.has_text_frame:
            lines = (paragraph.text.strip() for paragraph in shape.text_frame.paragraphs)
            yield "\n".join(line for line in lines if line)
