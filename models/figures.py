"""A figure: an image that a tool returned, and how a report shows it."""

import hashlib

from pydantic import Field

from models.base import Frozen

OURS = "charts."
"""How the tools begin whose drawings are made by Holdfast alone, letter by letter."""
SVG = "image/svg+xml"
ENDINGS = {
    "image/png": ".png",
    "image/jpeg": ".jpg",
    "image/gif": ".gif",
    "image/webp": ".webp",
    SVG: ".svg",
}
"""The media types that are kept, with the ending of a file of each."""


class Figure(Frozen):
    """An image in a tool's answer; the bytes are kept beside what is written of the answer."""

    sha256: str
    media_type: str
    title: str
    caption: str = ""
    data: bytes = Field(default=b"", exclude=True, repr=False)
    """Empty in an answer that was read from the ledger: the table `figures` has them."""


def drawn(media_type: str, data: bytes, *, title: str, caption: str = "") -> Figure:
    """A figure of these bytes, known by their hash."""
    return Figure(
        sha256=hashlib.sha256(data).hexdigest(),
        media_type=media_type,
        title=title,
        caption=caption,
        data=data,
    )


class FigureForm(Frozen):
    """One file that a figure can be had as."""

    media_type: str
    sha256: str


class ReportFigure(Frozen):
    """A figure as a report names it; what one call gave under one title is one figure."""

    id: str
    """The first twelve characters of its first form's hash."""
    title: str
    caption: str = ""
    task: str
    tool: str
    forms: tuple[FigureForm, ...]

    def form(self, media_type: str) -> FigureForm | None:
        return next((each for each in self.forms if each.media_type == media_type), None)

    @property
    def image(self) -> FigureForm | None:
        """What a page may show: pixels, which hold no script; none where there are none."""
        return next((each for each in self.forms if each.media_type != SVG), None)


class StoredFigure(Frozen):
    """The bytes of one form, and the tool that gave them."""

    media_type: str
    title: str
    tool: str
    data: bytes = Field(repr=False)

    @property
    def is_ours(self) -> bool:
        return self.tool.startswith(OURS)
