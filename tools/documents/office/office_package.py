"""Unpack an office file within size limits, and keep only its XML parts."""

import io
import zipfile
import zlib
from typing import NamedTuple
from xml.parsers import expat

from holdfast.models.errors import BadInput

MAX_ENTRIES = 5_000
MAX_PART = 40 * 2**20
MAX_UNPACKED = 80 * 2**20
_SPOOLED = 64 * 2**10
_XML = (".xml", ".rels")


class OfficePackage(NamedTuple):
    """An office file without pictures, macros and embedded files."""

    data: bytes
    core: bytes
    """docProps/core.xml with title, author and dates; empty if the file has none."""


def clean_office_package(name: str, data: bytes) -> OfficePackage:
    """Repack the file's XML parts without compression; never open any other part.

    Raises:
        BadInput: the file is not an office file, is damaged, or unpacks to too much.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as package:
            return _clean(name, package)
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError) as error:
        raise _broken(name) from error
    except (RuntimeError, NotImplementedError, ValueError, UnicodeError) as error:
        # A password, an unsupported compression, an invalid name or offset.
        raise _broken(name) from error


def _clean(name: str, package: zipfile.ZipFile) -> OfficePackage:
    entries = package.infolist()
    if len(entries) > MAX_ENTRIES:
        raise BadInput(
            f"{name!r} holds more than {MAX_ENTRIES:,} files: save it again, or split it"
        )
    if sum(entry.file_size for entry in entries if _is_xml(entry)) > MAX_UNPACKED:
        raise _too_large(name)
    out, core, total = io.BytesIO(), b"", 0
    with zipfile.ZipFile(out, "w") as clean:
        for entry in {entry.filename: entry for entry in entries}.values():
            part = _part(name, package, entry) if _is_xml(entry) else b""
            total += len(part)
            if total > MAX_UNPACKED:
                raise _too_large(name)
            clean.writestr(zipfile.ZipInfo(entry.filename), part)
            core = part if entry.filename == "docProps/core.xml" else core
    return OfficePackage(out.getvalue(), core)


def _part(name: str, package: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    """Return the unpacked part, bounded by its real size: the directory may lie about it."""
    unpacked = bytearray()
    with package.open(entry) as file:
        while piece := file.read(_SPOOLED):
            unpacked += piece
            if len(unpacked) > MAX_PART:
                raise _too_large(name)
    _check_xml(name, bytes(unpacked))
    return bytes(unpacked)


def _check_xml(name: str, part: bytes) -> None:
    """Reject XML declarations of entities; office programs write none.

    Entities can name other files or expand without bound. The parser has no other callbacks, so
    the check takes 10 ms per megabyte.
    """

    def refuse(*_: object) -> None:
        raise BadInput(f"{name!r} declares entities in its XML, as no office program does")

    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler = refuse
    parser.EntityDeclHandler = refuse
    try:
        parser.Parse(part, True)
    except (expat.ExpatError, LookupError, ValueError) as error:
        # LookupError and ValueError: the part names an encoding that is unknown or is no text's.
        raise _broken(name) from error


def _is_xml(entry: zipfile.ZipInfo) -> bool:
    return entry.filename.lower().endswith(_XML)


def _too_large(name: str) -> BadInput:
    return BadInput(
        f"{name!r} unpacks to more than {MAX_UNPACKED // 2**20} MB of text, or a part of it to "
        f"more than {MAX_PART // 2**20} MB: split it"
    )


def _broken(name: str) -> BadInput:
    return BadInput(
        f"{name!r} is damaged, of another kind than its ending says, or locked with a password: "
        "open it, and save it without one"
    )
