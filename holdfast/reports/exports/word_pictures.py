"""Choose the image of a figure that a Word document can show, and its width on the page."""

import io
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from holdfast.models.calls.tool_figures import ReportFigure, StoredFigure

if TYPE_CHECKING:
    from docx.shared import Length

_WIDTH_INCHES = 6.0
"""The width of the text."""
_MOST_HEIGHT_INCHES = 7.5
"""A higher image leaves no room on its page for its caption."""
_PICTURES = frozenset({"image/png", "image/jpeg", "image/gif"})


class WordPicture(NamedTuple):
    """An image as a Word document shows it."""

    data: io.BytesIO
    width: "Length"


def word_picture(figure: ReportFigure, images: Mapping[str, StoredFigure]) -> WordPicture | None:
    """Return the first form of the figure that Word documents can have; None if there is none."""
    for form in figure.forms:
        image = images.get(form.sha256)
        if image is not None and image.media_type in _PICTURES:
            width = _width(image.data)
            if width is not None:
                return WordPicture(io.BytesIO(image.data), width)
    return None


def _width(data: bytes) -> "Length | None":
    """Return the width at which the image fits the page; None if it cannot be read."""
    from docx.image.image import Image
    from docx.shared import Inches

    try:
        image = Image.from_blob(data)
        tallest = _MOST_HEIGHT_INCHES * image.px_width / image.px_height
    except Exception:
        # A tool sent the image, and the reader of its header raises errors of many types.
        return None
    return Inches(min(_WIDTH_INCHES, tallest)) if tallest > 0 else None
