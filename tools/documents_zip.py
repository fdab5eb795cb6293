"""Unpacks an office file within bounds: what its readers are given is small, and plain XML."""

import io
import zipfile
import zlib
from typing import NamedTuple
from xml.parsers import expat

from models.errors import BadInput

MAX_ENTRIES = 5_000
MAX_PART = 40 * 2**20
MAX_UNPACKED = 80 * 2**20
_SPOOLED = 64 * 2**10
_XML = (".xml", ".rels")


class Package(NamedTuple):
    """An office file with its pictures, macros and embedded files emptied."""

    data: bytes
    core: bytes
    """docProps/core.xml: title, author and dates; empty where there is none."""


def unpacked(name: str, data: bytes) -> Package:
    """The file's XML parts, packed anew without compression; nothing else in it is ever opened.

    Raises:
        BadInput: it is no such file, damaged, or would grow beyond what is read.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as package:
            return _clean(name, package)
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError) as error:
        raise _broken(name) from error
    except (RuntimeError, NotImplementedError, ValueError, UnicodeError) as error:
        # A password, a compression that is not built in, a name or an offset that is none.
        raise _broken(name) from error


def _clean(name: str, package: zipfile.ZipFile) -> Package:
    entries = package.infolist()
    if len(entries) > MAX_ENTRIES:
        raise BadInput(f"{name!r} holds more than {MAX_ENTRIES:,} files: save it anew, or split it")
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
    return Package(out.getvalue(), core)


def _part(name: str, package: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    """What is really in it: the size in the directory is only what somebody wrote there."""
    found = bytearray()
    with package.open(entry) as file:
        while piece := file.read(_SPOOLED):
            found += piece
            if len(found) > MAX_PART:
                raise _too_large(name)
    _check_xml(name, bytes(found))
    return bytes(found)


def _check_xml(name: str, part: bytes) -> None:
    """Refuses declarations, which can name other files or grow without bound; no office writes one.

    Only that is asked of the parser, so it calls nothing of ours else and takes 10 ms a megabyte.
    """

    def refuse(*_: object) -> None:
        raise BadInput(f"{name!r} declares entities in its XML, as no office program does")

    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler = refuse
    parser.EntityDeclHandler = refuse
    try:
        parser.Parse(part, True)
    except expat.ExpatError as error:
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
