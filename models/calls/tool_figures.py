"""Define figures: the images that tools return, and how a report lists the images."""

import hashlib

from pydantic import Field

from holdfast.models.frozen_model import Frozen

BUILT_IN_TOOLS_PREFIX = "charts."
"""The prefix of built-in tools whose images Holdfast draws itself."""
SVG = "image/svg+xml"
FIGURE_EXTENSIONS = {
    "image/png": ".png",
    "image/jpeg": ".jpg",
    "image/gif": ".gif",
    "image/webp": ".webp",
    SVG: ".svg",
}
"""The accepted media types, each with its file ending."""
_SHA256 = r"^[0-9a-f]{64}$"
"""Names of files are made of it, so nothing else may stand in its place."""


class ToolFigure(Frozen):
    """An image in a tool's answer; its bytes are stored apart from the answer's text."""

    sha256: str = Field(pattern=_SHA256)
    media_type: str
    title: str
    caption: str = ""
    data: bytes = Field(default=b"", exclude=True, repr=False)
    """Empty in an answer from the call ledger: the table `figures` holds the bytes."""


def new_figure(media_type: str, data: bytes, *, title: str, caption: str = "") -> ToolFigure:
    """Return a figure with these bytes; their hash is its id."""
    return ToolFigure(
        sha256=hashlib.sha256(data).hexdigest(),
        media_type=media_type,
        title=title,
        caption=caption,
        data=data,
    )


class FigureForm(Frozen):
    """One file format of a figure."""

    media_type: str
    sha256: str = Field(pattern=_SHA256)


class ReportFigure(Frozen):
    """A figure of a report: all images of one call with the same title."""

    id: str = Field(pattern=r"^[0-9a-f]{12}$")
    """The first twelve characters of the hash of its first form."""
    title: str
    caption: str = ""
    task: str
    tool: str
    forms: tuple[FigureForm, ...]

    def form(self, media_type: str) -> FigureForm | None:
        return next((each for each in self.forms if each.media_type == media_type), None)

    @property
    def image(self) -> FigureForm | None:
        """Return the form that a web page may show: a bitmap, which holds no script; or None."""
        return next((each for each in self.forms if each.media_type != SVG), None)


class StoredFigure(Frozen):
    """The bytes of one form, and the tool that returned them."""

    media_type: str
    title: str
    tool: str
    data: bytes = Field(repr=False)

    @property
    def is_built_in(self) -> bool:
        return self.tool.startswith(BUILT_IN_TOOLS_PREFIX)
