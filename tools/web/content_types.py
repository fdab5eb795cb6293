"""Determine from the content type and the first bytes how an HTTP body is read."""

from enum import StrEnum

from holdfast.models.errors import ToolFailed
from holdfast.tools.web.http_client.http_exchange import Headers

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


class BodyKind(StrEnum):
    """The format of a body, which decides its reader."""

    HTML = "html"
    PDF = "pdf"
    TEXT = "text"
    WIKI = "wiki"
    """The HTML of an article from MediaWiki's API."""


def check_content_type(address: str, headers: Headers) -> None:
    """Reject a content type without text before the body is read.

    Raises:
        ToolFailed: the content is a picture, a film, an archive or similar.
    """
    media = media_type(headers)
    if media in _UNSAID or media == _PDF or media in _HTML or _is_text(media):
        return
    raise ToolFailed(
        f"{address[:300]} is {media[:80]!r}, which has no text to read: HTML, PDF, plain text and "
        "JSON are read"
    )


def body_kind(headers: Headers, body: bytes) -> BodyKind:
    """Return the format of the body; its first bytes count more than its content type."""
    media = media_type(headers)
    start = body[:1024].lstrip(b"\xef\xbb\xbf \t\r\n\x00")
    if start.startswith(b"%PDF-"):
        return BodyKind.PDF
    if media in _HTML or (media in _UNSAID | {"text/plain"} and _looks_like_html(start)):
        return BodyKind.HTML
    return BodyKind.PDF if media == _PDF else BodyKind.TEXT


def media_type(headers: Headers) -> str:
    """Return the content type without parameters, in lower case."""
    return headers.get("content-type", "").partition(";")[0].strip().lower()


def declared_charset(headers: Headers) -> str:
    """Return the charset in the content type; empty if there is none."""
    _, _, named = headers.get("content-type", "").lower().partition("charset=")
    return named.partition(";")[0].strip(" \"'")[:40]


def _is_text(media: str) -> bool:
    return media.startswith("text/") or media in _TEXT or media.endswith(("+json", "+xml", "+yaml"))


def _looks_like_html(start: bytes) -> bool:
    return start[:256].lower().startswith((b"<!doctype html", b"<html", b"<head", b"<body"))
