"""Read the text, title, author and date of a PDF."""

import io
import logging
import re
import warnings
from typing import TYPE_CHECKING

from holdfast.models.errors import BadInput
from holdfast.tools.documents.metadata_cleaning import ParsedDocument
from holdfast.tools.optional_parts import OptionalPart, require_part

if TYPE_CHECKING:
    from pypdf import PdfReader

_SIGNATURE = b"%PDF-"
_MAX_SIGNATURE_OFFSET = 1024
"""Bytes; PDF readers accept some junk before the signature."""
_PLACEHOLDER_TITLE = re.compile(
    r"\s*(\(?(untitled|anonymous|unspecified|unknown)\)?\s*\d*"
    r"|Microsoft (Word|PowerPoint|Excel) - .*)\s*",
    re.IGNORECASE,
)
"""Titles that programs write by default."""


def read_pdf(name: str, data: bytes) -> ParsedDocument:
    """Return the PDF's metadata, and the text of its pages separated by blank lines.

    Raises:
        BadInput: the file is not a PDF, is broken, or needs a password.
        PartMissing: the part `documents` is not installed.
    """
    require_part(OptionalPart.DOCUMENTS, "reading .pdf files")
    if _SIGNATURE not in data[:_MAX_SIGNATURE_OFFSET]:
        raise BadInput(f"{name!r} is not a PDF")
    # pypdf logs every irregularity of a file; only the text matters here.
    logging.getLogger("pypdf").setLevel(logging.CRITICAL + 1)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return _read(name, data)
    except BadInput:
        raise
    except Exception as error:  # on broken files pypdf raises KeyError, RecursionError, ...
        raise BadInput(f"{name!r} is a broken PDF: open it and save it again") from error


def _read(name: str, data: bytes) -> ParsedDocument:
    # Imported here: 0.3 s and 45 MB that only workers which read PDFs should pay.
    from pypdf import PdfReader

    reader = PdfReader(io.BytesIO(data))
    # Many files that forbid printing or changes have the empty password.
    if reader.is_encrypted and not reader.decrypt(""):
        raise BadInput(f"{name!r} is encrypted: save it without a password")
    text = "\n\n".join(page.extract_text() for page in reader.pages)
    metadata = reader.metadata
    if metadata is None:
        return ParsedDocument("", text)
    return ParsedDocument(
        _title(str(metadata.title or "")),
        text,
        {"author": metadata.author, "date": _date(reader)},
    )


def _title(title: str) -> str:
    """Return the title; empty if it is a program's default title."""
    return "" if _PLACEHOLDER_TITLE.fullmatch(title) else title


def _date(reader: "PdfReader") -> object:
    metadata = reader.metadata
    try:
        return metadata and (metadata.modification_date or metadata.creation_date)
    except ValueError:  # the date has a nonstandard form
        return None
