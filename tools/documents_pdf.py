"""Reads the text of a PDF."""

import io
import logging
import warnings
from typing import TYPE_CHECKING

from models.errors import BadInput

if TYPE_CHECKING:
    from pypdf import PdfReader


def read_pdf(name: str, data: bytes) -> tuple[str, str]:
    """The title in the PDF's metadata, and the text of its pages with a blank line between.

    Raises:
        BadInput: it is broken, or opens only with a password.
    """
    # It logs every oddity of a file; what matters is whether text comes out.
    logging.getLogger("pypdf").setLevel(logging.CRITICAL + 1)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return _title_and_text(name, data)
    except BadInput:
        raise
    except Exception as error:  # on broken files pypdf lets through KeyError, RecursionError, ...
        raise BadInput(f"{name!r} is a broken PDF: open it and save it again") from error


def _title_and_text(name: str, data: bytes) -> tuple[str, str]:
    # Imported here: 0.3 s and 45 MB that a worker which reads no PDFs should not pay.
    from pypdf import PdfReader

    reader = PdfReader(io.BytesIO(data))
    # Many files that forbid printing or changes open with the empty password.
    if reader.is_encrypted and not reader.decrypt(""):
        raise BadInput(f"{name!r} is encrypted: save it without a password")
    text = "\n\n".join(page.extract_text() for page in reader.pages)
    return _title(reader), text


def _title(reader: "PdfReader") -> str:
    return str(reader.metadata.title or "") if reader.metadata else ""
