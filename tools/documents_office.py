"""Reads Word, PowerPoint and Excel files, each through its library, from a cleaned package."""

import io
import warnings
from collections.abc import Callable
from typing import Any, TypeAlias

from defusedxml import ElementTree

from models.errors import BadInput
from tools.documents_metadata import Read
from tools.documents_zip import Package, unpacked

Reader: TypeAlias = Callable[[str, io.BytesIO, int], str]
_DC = "{http://purl.org/dc/elements/1.1/}"
_TERMS = "{http://purl.org/dc/terms/}"
# What python-docx and python-pptx write into every file that names no author or title.
_BLANK = frozenset({"python-docx", "PowerPoint Presentation", "Word Document", "openpyxl"})


def read_office(name: str, data: bytes, reader: Reader, budget: int) -> Read:
    """What the file says, by `reader`, with the title, author and date in its properties.

    Raises:
        BadInput: it cannot be read, or holds more than `budget` characters.
    """
    package = unpacked(name, data)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            text = reader(name, io.BytesIO(package.data), budget)
    except BadInput:
        raise
    except Exception as error:  # on damaged files the libraries let through KeyError, IndexError...
        raise BadInput(
            f"{name!r} is damaged, or of another kind than its ending says: open it and save it "
            "again"
        ) from error
    return _with_properties(text, package)


def _with_properties(text: str, package: Package) -> Read:
    try:
        root: Any = ElementTree.fromstring(package.core)
    except Exception:  # its properties are an extra
        return Read("", text)

    def said(tag: str) -> str:
        words = (root.findtext(tag) or "").strip()
        return "" if words in _BLANK else words

    found = {
        "author": said(f"{_DC}creator"),
        "date": said(f"{_TERMS}modified") or said(f"{_TERMS}created"),
    }
    return Read(said(f"{_DC}title"), text, found)
