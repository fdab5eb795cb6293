"""Extract the text, title, date and author of a page from the bytes of an HTTP answer.

It runs in a process of its own (`reader_process`), because the pages are untrusted.
"""

import re
from datetime import date
from urllib.parse import unquote

from holdfast.models.errors import BadInput
from holdfast.models.frozen_model import Frozen
from holdfast.tools.documents.html.mediawiki_html import article_text
from holdfast.tools.documents.pdf_reader import read_pdf
from holdfast.tools.documents.text_decoding import clean_text
from holdfast.tools.web.content_types import BodyKind
from holdfast.tools.web.page_charset import decode_page
from holdfast.tools.web.page_html import read_page_html

_MAX_CHARS = 5_000_000
_MAX_META_CHARS = 500
# For longer pages the metadata takes too long to find.
_MAX_SEARCHED = 2 * 2**20
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_PDF_DATE = re.compile(rb"/CreationDate\s{0,9}\(D:(\d{4})(\d\d)(\d\d)")


class PageText(Frozen):
    """The content of a page; all offsets refer to `text`."""

    title: str = ""
    text: str
    date: str = ""
    """The publication date that the page states, as YYYY-MM-DD; empty if there is none."""
    author: str = ""


def extract_page_text(kind: BodyKind, address: str, charset: str, body: bytes) -> PageText:
    """Return title, text, date and author of a page.

    Raises:
        BadInput: the body is damaged or not text.
    """
    match kind:
        case BodyKind.HTML:
            page = _html(decode_page(address, body, charset), address)
        case BodyKind.PDF:
            page = _pdf(address, body)
        case BodyKind.TEXT:
            page = PageText(text=decode_page(address, body, charset))
        case BodyKind.WIKI:
            page = PageText(text=article_text(decode_page(address, body, charset)))
    if len(page.text) > _MAX_CHARS:
        raise BadInput(f"{address!r} holds more than {_MAX_CHARS:,} characters of text")
    return page.model_copy(
        update={
            "title": _line(page.title) or _name_in(address),
            "author": _line(page.author),
            "text": clean_text(page.text),
        }
    )


def _html(html: str, address: str) -> PageText:
    read = read_page_html(html)
    metadata = _metadata(html, address)
    return PageText(
        title=metadata.get("title") or read.title,
        text=read.text,
        date=metadata.get("date", ""),
        author=metadata.get("author", ""),
    )


def _metadata(html: str, address: str) -> dict[str, str]:
    """Return title, date and author if the page states them; a date is never guessed."""
    import trafilatura

    if len(html) > _MAX_SEARCHED:
        return {}
    try:
        metadata = trafilatura.extract_metadata(html, default_url=address, extensive=False)
    except Exception:  # trafilatura passes on any exception of lxml and of its own rules
        return {}
    fields = {name: getattr(metadata, name, None) for name in ("title", "date", "author")}
    kept = {name: value for name, value in fields.items() if isinstance(value, str)}
    if not _DATE.fullmatch(kept.get("date", "")):
        kept.pop("date", None)
    return kept


def _pdf(address: str, body: bytes) -> PageText:
    read = read_pdf(address, body)
    found = _PDF_DATE.search(body[:2_000_000])
    return PageText(title=read.title, text=read.text, date=_day(found) if found else "")


def _day(found: re.Match[bytes]) -> str:
    try:
        return date(*map(int, found.groups())).isoformat()
    except ValueError:
        return ""


def _line(text: str) -> str:
    return " ".join(clean_text(text).split())[:_MAX_META_CHARS]


def _name_in(address: str) -> str:
    """Return the last part of the address's path, or its host."""
    path = address.partition("://")[2].partition("?")[0].rstrip("/")
    return _line(unquote(path.rpartition("/")[2]))
