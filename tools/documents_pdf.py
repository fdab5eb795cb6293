"""Reads the text of a PDF."""

import io
import logging
import warnings
from typing import TYPE_CHECKING

from models.errors import BadInput
from tools.documents_metadata import Read

if TYPE_CHECKING:
    from pypdf import PdfReader


def read_pdf(name: str, data: bytes) -> Read:
    """What the PDF says of itself, and the text of its pages with a blank line between.

    Raises:
        BadInput: it is broken, or opens only with a password.
    """
    # It logs every oddity of a file; what matters is whether text comes out.
    logging.getLogger("pypdf").setLevel(logging.CRITICAL + 1)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return _read(name, data)
    except BadInput:
        raise
    except Exception as error:  # on broken files pypdf lets through KeyError, RecursionError, ...
        raise BadInput(f"{name!r} is a broken PDF: open it and save it again") from error


def _read(name: str, data: bytes) -> Read:
    # Imported here: 0.3 s and 45 MB that a worker which reads no PDFs should not pay.
    from pypdf import PdfReader

    reader = PdfReader(io.BytesIO(data))
    # Many files that forbid printing or changes open with the empty password.
    if reader.is_encrypted and not reader.decrypt(""):
        raise BadInput(f"{name!r} is encrypted: save it without a password")
    text = "\n\n".join(page.extract_text() for page in reader.pages)
    said = reader.metadata
    if said is None:
        return Read("", text)
    return Read(str(said.title or ""), text, {"author": said.author, "date": _date(reader)})


def _date(reader: "PdfReader") -> object:
    said = reader.metadata
    try:
        return said and (said.modification_date or said.creation_date)
    except ValueError:  # it is written in a way of its own
        return None
