"""Choose the image of a figure that a Word document can show, and its size on the page."""

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
    height: "Length"


def word_picture(figure: ReportFigure, images: Mapping[str, StoredFigure]) -> WordPicture | None:
    """Return the first form of the figure that Word documents can have; None if there is none."""
    for form in figure.forms:
        image = images.get(form.sha256)
        if image is not None and image.media_type in _PICTURES:
            size = _size(image.data)
            if size is not None:
                return WordPicture(io.BytesIO(image.data), *size)
    return None


def _size(data: bytes) -> "tuple[Length, Length] | None":
    """Return width and height at which the image fits the page; None if it cannot be read.

    Only its pixels count: an image may claim any number of them per inch, or none.
    """
    from docx.image.image import Image
    from docx.shared import Inches

    try:
        image = Image.from_blob(data)
        high_for_wide = image.px_height / image.px_width
    except Exception:
        # A tool sent the image, and the reader of its header raises errors of many types.
        return None
    if high_for_wide <= 0:
        return None
    width = min(_WIDTH_INCHES, _MOST_HEIGHT_INCHES / high_for_wide)
    return Inches(width), Inches(width * high_for_wide)
