"""Read the bytes of one file into a title, a text and metadata, by the file's ending."""

from dataclasses import dataclass, field
from pathlib import Path, PurePath

from holdfast.models.errors import BadInput
from holdfast.tools.documents.csv_reader import read_csv
from holdfast.tools.documents.html.html_reader import read_html
from holdfast.tools.documents.metadata_cleaning import (
    DocumentMetadata,
    ParsedDocument,
    clean_metadata,
    read_front_matter,
)
from holdfast.tools.documents.office.docx_reader import docx_text
from holdfast.tools.documents.office.office_reader import read_office
from holdfast.tools.documents.office.pptx_reader import pptx_text
from holdfast.tools.documents.office.xlsx_reader import xlsx_text
from holdfast.tools.documents.passage_splitter import find_headings
from holdfast.tools.documents.pdf_reader import read_pdf
from holdfast.tools.documents.text_decoding import clean_text, decode_text
from holdfast.tools.optional_parts import OptionalPart, require_part

DOCUMENT_ENDINGS = (".md", ".txt", ".html", ".htm", ".pdf", ".docx", ".pptx", ".xlsx", ".csv")
"""The supported file endings, in lower case."""
MAX_DOCUMENT_BYTES = 50 * 2**20
_PART_ENDINGS = frozenset({".pdf", ".docx", ".pptx", ".xlsx"})
"""Reading these needs the part `documents`."""
_MAX_TITLE = 300


@dataclass(frozen=True)
class DocumentText:
    """The content of a file; `text` is stored, and all offsets refer to it."""

    title: str
    text: str
    metadata: DocumentMetadata = field(default_factory=dict)


def read_document(path: Path | str, data: bytes) -> DocumentText:
    """Return title, text and metadata of a file's bytes; the ending of `path` decides the reader.

    Raises:
        BadInput: the file cannot be read; the message names the file and a remedy.
    """
    name = str(path)
    _check_size(name, len(data))
    read = _read(name, data)
    text = clean_text(read.text)
    if len(text) > MAX_DOCUMENT_BYTES:  # a small PDF or page may unpack to a huge text
        raise BadInput(f"{name!r} holds more than {MAX_DOCUMENT_BYTES:,} characters: split it")
    if not text.strip():
        way_out = (
            ": if it is a scan, have its text recognised" if name.lower().endswith(".pdf") else ""
        )
        raise BadInput(f"{name!r} holds no text{way_out}")
    title = " ".join(clean_text(read.title).split()) or PurePath(name).stem
    kind = {"kind": PurePath(name).suffix.lower().removeprefix(".")}
    metadata = clean_metadata(dict(read.metadata)) | kind
    return DocumentText(title=title[:_MAX_TITLE], text=text, metadata=metadata)


def check_document_ending(name: str) -> None:
    """Check that files with this ending can be read.

    Raises:
        BadInput: the ending is not supported; the message lists the supported endings.
    """
    ending = PurePath(name).suffix.lower()
    if ending not in DOCUMENT_ENDINGS:
        kind = f"the unsupported type {ending}" if ending else "no file type"
        raise BadInput(f"{name!r} has {kind} (read: {', '.join(DOCUMENT_ENDINGS)})")


def check_document_part(name: str) -> None:
    """Check that the part is installed that reads files with this ending.

    Raises:
        PartMissing: the part is not installed; the message says how to install it.
    """
    ending = PurePath(name).suffix.lower()
    if ending in _PART_ENDINGS:
        require_part(OptionalPart.DOCUMENTS, f"reading {ending} files")


def _check_size(name: str, size_bytes: int) -> None:
    if size_bytes == 0:
        raise BadInput(f"{name!r} is empty")
    if size_bytes > MAX_DOCUMENT_BYTES:
        raise BadInput(f"{name!r} is larger than {MAX_DOCUMENT_BYTES // 2**20} MB: split it")


def _read(name: str, data: bytes) -> ParsedDocument:
    check_document_ending(name)
    check_document_part(name)
    match PurePath(name).suffix.lower():
        case ".pdf":
            return read_pdf(name, data)
        case ".html" | ".htm":
            return read_html(decode_text(name, data))
        case ".docx":
            return read_office(name, data, docx_text, MAX_DOCUMENT_BYTES)
        case ".pptx":
            return read_office(name, data, pptx_text, MAX_DOCUMENT_BYTES)
        case ".xlsx":
            return read_office(name, data, xlsx_text, MAX_DOCUMENT_BYTES)
        case ".csv":
            return read_csv(name, decode_text(name, data), MAX_DOCUMENT_BYTES)
        case ".md":
            return _titled(read_front_matter(clean_text(decode_text(name, data))))
        case _:
            return _titled(ParsedDocument("", decode_text(name, data)))


def _titled(read: ParsedDocument) -> ParsedDocument:
    """Return the document; without a title, its first heading becomes the title."""
    first = next((heading.text for heading in find_headings(clean_text(read.text))), "")
    return read._replace(title=read.title or first)
