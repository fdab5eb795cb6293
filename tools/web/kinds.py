"""What kind of thing an answer is: by its content type, and by how it begins."""

from enum import StrEnum

from models.errors import ToolFailed
from tools.web.exchange import Headers

_PDF = "application/pdf"
_HTML = frozenset({"text/html", "application/xhtml+xml"})
_TEXT = frozenset(
    {
        "application/json",
        "application/xml",
        "application/x-ndjson",
        "application/yaml",
        "application/x-yaml",
        "application/toml",
        "application/javascript",
        "application/rtf",
        "message/rfc822",
    }
)
_UNSAID = frozenset({"", "application/octet-stream", "binary/octet-stream", "application/download"})


class Kind(StrEnum):
    """How a body is read."""

    HTML = "html"
    PDF = "pdf"
    TEXT = "text"
    WIKI = "wiki"
    """The HTML of an article as MediaWiki's API gives it."""


def check_type(address: str, headers: Headers) -> None:
    """Refuses what has no text, before its body is read.

    Raises:
        ToolFailed: it is a picture, a film, an archive or the like.
    """
    media = media_type(headers)
    if media in _UNSAID or media == _PDF or media in _HTML or _is_text(media):
        return
    raise ToolFailed(
        f"{address[:300]} is {media[:80]!r}, which has no text to read: HTML, PDF, plain text and "
        "JSON are read"
    )


def kind_of(headers: Headers, body: bytes) -> Kind:
    """How to read the body; what it is counts more than what it is called."""
    media = media_type(headers)
    start = body[:1024].lstrip(b"\xef\xbb\xbf \t\r\n\x00")
    if start.startswith(b"%PDF-"):
        return Kind.PDF
    if media in _HTML or (media in _UNSAID | {"text/plain"} and _looks_like_html(start)):
        return Kind.HTML
    return Kind.PDF if media == _PDF else Kind.TEXT


def media_type(headers: Headers) -> str:
    """The content type without its parameters, in lower case."""
    return headers.get("content-type", "").partition(";")[0].strip().lower()


def charset_of(headers: Headers) -> str:
    """The charset that the content type names; empty if none."""
    _, _, named = headers.get("content-type", "").lower().partition("charset=")
    return named.partition(";")[0].strip(" \"'")[:40]


def _is_text(media: str) -> bool:
    return media.startswith("text/") or media in _TEXT or media.endswith(("+json", "+xml", "+yaml"))


def _looks_like_html(start: bytes) -> bool:
    return start[:256].lower().startswith((b"<!doctype html", b"<html", b"<head", b"<body"))
