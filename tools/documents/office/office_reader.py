"""Read the text, title, author and date of a Word, PowerPoint or Excel file."""

import io
import warnings
from collections.abc import Callable
from typing import Any, TypeAlias

from holdfast.models.errors import BadInput
from holdfast.tools.documents.metadata_cleaning import ParsedDocument
from holdfast.tools.documents.office.office_package import OfficePackage, clean_office_package

OfficeTextReader: TypeAlias = Callable[[str, io.BytesIO, int], str]
_DC = "{http://purl.org/dc/elements/1.1/}"
_TERMS = "{http://purl.org/dc/terms/}"
# Defaults that python-docx and python-pptx write into files without author or title.
_BLANK = frozenset({"python-docx", "PowerPoint Presentation", "Word Document", "openpyxl"})


def read_office(name: str, data: bytes, reader: OfficeTextReader, budget: int) -> ParsedDocument:
    """Return the text that `reader` reads, with title, author and date of the file's properties.

    Raises:
        BadInput: the file cannot be read, or has more than `budget` characters.
    """
    package = clean_office_package(name, data)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            text = reader(name, io.BytesIO(package.data), budget)
    except BadInput:
        raise
    except Exception as error:  # on damaged files the libraries raise KeyError, IndexError, ...
        raise BadInput(
            f"{name!r} is damaged, or of another kind than its ending says: open it and save it "
            "again"
        ) from error
    return _with_properties(text, package)


def _with_properties(text: str, package: OfficePackage) -> ParsedDocument:
    from defusedxml import ElementTree  # in the part `documents`

    try:
        root: Any = ElementTree.fromstring(package.core)
    except Exception:  # properties are optional
        return ParsedDocument("", text)

    def property_text(tag: str) -> str:
        words = (root.findtext(tag) or "").strip()
        return "" if words in _BLANK else words

    metadata = {
        "author": property_text(f"{_DC}creator"),
        "date": property_text(f"{_TERMS}modified") or property_text(f"{_TERMS}created"),
    }
    return ParsedDocument(property_text(f"{_DC}title"), text, metadata)
