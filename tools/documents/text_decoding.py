"""Decode bytes to text, and remove the characters that PostgreSQL cannot store."""

import codecs
import re

from holdfast.models.errors import BadInput

_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_MAX_CONTROL_SHARE = 0.01
# In Western European prose at most a tenth of the letters is not ASCII. In other scripts and in
# binary files most bytes are not ASCII, and cp1252 would decode them to a wrong text.
_MAX_FOREIGN_SHARE = 0.25
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f-\x84\x86-\x9f]")
# An old page declares its encoding. Only families that decode text: not "unicode_escape".
_DECLARED = re.compile(
    rb"charset\s*=\s*[\"']?((?:iso-8859|windows-125|koi8|shift_jis|euc|gb|big5)[\w-]{0,12})",
    re.IGNORECASE,
)


def decode_text(name: str, data: bytes) -> str:
    """Decode the bytes: by byte order mark, as UTF-8, as declared, or as cp1252.

    Raises:
        BadInput: the bytes are not text.
    """
    encoding = next((encoding for bom, encoding in _BOMS if data.startswith(bom)), "")
    text = _tried(data, encoding) if encoding else _guessed(data)
    if text is None or "\0" in text or _share_of_controls(text) > _MAX_CONTROL_SHARE:
        raise BadInput(f"{name!r} is not text: if it is, save it as UTF-8")
    return text


def clean_text(text: str) -> str:
    """Return the text with newlines as line ends, without characters that PostgreSQL rejects."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _CONTROLS.sub(" ", text.encode("utf-8", "replace").decode("utf-8"))


def _guessed(data: bytes) -> str | None:
    declared = _DECLARED.search(data, 0, 2048)
    fallback = declared.group(1).decode("ascii") if declared else ""
    text = _tried(data, "utf-8")
    if text is None and fallback:
        text = _tried(data, fallback)
    if text is None and _share_beyond_ascii(data) <= _MAX_FOREIGN_SHARE:
        text = _tried(data, "cp1252") or _tried(data, "latin-1")
    return text


def _tried(data: bytes, encoding: str) -> str | None:
    try:
        return data.decode(encoding)
    except (UnicodeDecodeError, LookupError):
        return None


def _share_beyond_ascii(data: bytes) -> float:
    return 1 - len(data.decode("ascii", "ignore")) / max(1, len(data))


def _share_of_controls(text: str) -> float:
    return sum(1 for _ in _CONTROLS.finditer(text)) / max(1, len(text))
