"""The text of a PowerPoint file as Markdown: a heading for each slide, then what stands on it."""

import io
from collections.abc import Iterable, Iterator
from typing import Any

from models.errors import BadInput
from tools.documents_rows import rows_as_text

_DEEPEST = 8  # groups of shapes in groups


def pptx_text(name: str, file: io.BytesIO, budget: int) -> str:
    """The slides in order, each below `## Slide 3: its title`, with its notes at its end.

    Raises:
        BadInput: it holds more than `budget` characters.
    """
    # Imported here: 0.3 s that a worker which reads no such files should not pay.
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
        # A slide of nothing but its title is a passage as well.
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
            if depth < _DEEPEST:
                yield from _shapes(name, shape.shapes, None, budget, depth + 1)
        elif getattr(shape, "has_table", False):
            rows = ([cell.text for cell in row.cells] for row in shape.table.rows)
            yield rows_as_text(name, rows, budget)
        elif shape.has_text_frame:
            lines = (paragraph.text.strip() for paragraph in shape.text_frame.paragraphs)
            yield "\n".join(line for line in lines if line)
