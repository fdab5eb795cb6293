"""Turns the bytes of one file into a title and a text, or says why that cannot be done."""

from dataclasses import dataclass
from pathlib import Path, PurePath

from models.errors import BadInput
from tools.documents_html import read_html
from tools.documents_pdf import read_pdf
from tools.documents_text import cleaned, decoded
from tools.passages import headings

ENDINGS = (".md", ".txt", ".html", ".htm", ".pdf")
"""The endings of files that are read, in lower case."""
MAX_BYTES = 50 * 2**20
_MAX_TITLE = 300


@dataclass(frozen=True)
class DocumentText:
    """What a file says; `text` is what is stored, and what all offsets count in."""

    title: str
    text: str


def read_document(path: Path | str, data: bytes) -> DocumentText:
    """The title and text of a file's bytes; `path` names it and tells its kind by its ending.

    Raises:
        BadInput: the file cannot be read; the message names it and the way out.
    """
    name = str(path)
    _check_size(name, len(data))
    title, text = _read(name, data)
    text = cleaned(text)
    if len(text) > MAX_BYTES:  # a small PDF or page may unpack to anything
        raise BadInput(f"{name!r} holds more than {MAX_BYTES:,} characters: split it")
    if not text.strip():
        way_out = (
            ": if it is a scan, have its text recognised" if name.lower().endswith(".pdf") else ""
        )
        raise BadInput(f"{name!r} holds no text{way_out}")
    title = " ".join(cleaned(title).split()) or PurePath(name).stem
    return DocumentText(title=title[:_MAX_TITLE], text=text)


def check_ending(name: str) -> None:
    """Refuses a file whose kind is not read.

    Raises:
        BadInput: the message says which endings are read.
    """
    if PurePath(name).suffix.lower() not in ENDINGS:
        raise BadInput(f"{name!r} is not of a kind that is read: {', '.join(ENDINGS)}")


def _check_size(name: str, size_bytes: int) -> None:
    if size_bytes == 0:
        raise BadInput(f"{name!r} is empty")
    if size_bytes > MAX_BYTES:
        raise BadInput(f"{name!r} is larger than {MAX_BYTES // 2**20} MB: split it")


def _read(name: str, data: bytes) -> tuple[str, str]:
    check_ending(name)
    match PurePath(name).suffix.lower():
        case ".pdf":
            return read_pdf(name, data)
        case ".html" | ".htm":
            return read_html(decoded(name, data))
        case _:
            text = decoded(name, data)
            return next((heading.text for heading in headings(cleaned(text))), ""), text
