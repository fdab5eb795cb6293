"""Turns the bytes of one file into a title and a text, or says why that cannot be done."""

from dataclasses import dataclass, field
from pathlib import Path, PurePath

from models.errors import BadInput
from tools.documents_csv import read_csv
from tools.documents_docx import docx_text
from tools.documents_html import read_html
from tools.documents_metadata import Metadata, Read, clean_metadata, front_matter
from tools.documents_office import read_office
from tools.documents_pdf import read_pdf
from tools.documents_pptx import pptx_text
from tools.documents_text import cleaned, decoded
from tools.documents_xlsx import xlsx_text
from tools.passages import headings

ENDINGS = (".md", ".txt", ".html", ".htm", ".pdf", ".docx", ".pptx", ".xlsx", ".csv")
"""The endings of files that are read, in lower case."""
MAX_BYTES = 50 * 2**20
_MAX_TITLE = 300


@dataclass(frozen=True)
class DocumentText:
    """What a file says; `text` is what is stored, and what all offsets count in."""

    title: str
    text: str
    metadata: Metadata = field(default_factory=dict)


def read_document(path: Path | str, data: bytes) -> DocumentText:
    """The title and text of a file's bytes; `path` names it and tells its kind by its ending.

    Raises:
        BadInput: the file cannot be read; the message names it and the way out.
    """
    name = str(path)
    _check_size(name, len(data))
    read = _read(name, data)
    text = cleaned(read.text)
    if len(text) > MAX_BYTES:  # a small PDF or page may unpack to anything
        raise BadInput(f"{name!r} holds more than {MAX_BYTES:,} characters: split it")
    if not text.strip():
        way_out = (
            ": if it is a scan, have its text recognised" if name.lower().endswith(".pdf") else ""
        )
        raise BadInput(f"{name!r} holds no text{way_out}")
    title = " ".join(cleaned(read.title).split()) or PurePath(name).stem
    kind = {"kind": PurePath(name).suffix.lower().removeprefix(".")}
    metadata = clean_metadata(dict(read.metadata)) | kind
    return DocumentText(title=title[:_MAX_TITLE], text=text, metadata=metadata)


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


def _read(name: str, data: bytes) -> Read:
    check_ending(name)
    match PurePath(name).suffix.lower():
        case ".pdf":
            return read_pdf(name, data)
        case ".html" | ".htm":
            return read_html(decoded(name, data))
        case ".docx":
            return read_office(name, data, docx_text, MAX_BYTES)
        case ".pptx":
            return read_office(name, data, pptx_text, MAX_BYTES)
        case ".xlsx":
            return read_office(name, data, xlsx_text, MAX_BYTES)
        case ".csv":
            return read_csv(name, decoded(name, data), MAX_BYTES)
        case ".md":
            return _titled(front_matter(cleaned(decoded(name, data))))
        case _:
            return _titled(Read("", decoded(name, data)))


def _titled(read: Read) -> Read:
    """With its first heading as its title, where it names none."""
    first = next((heading.text for heading in headings(cleaned(read.text))), "")
    return read._replace(title=read.title or first)
