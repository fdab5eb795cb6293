"""From the bytes of an answer to the text that a reader would see, with title, date and author.

Runs in a process of its own (`reading`), because what it reads was written by strangers.
"""

import re
from datetime import date
from urllib.parse import unquote

from models.base import Frozen
from models.errors import BadInput
from tools.documents_html import read_html
from tools.documents_pdf import read_pdf
from tools.documents_text import cleaned
from tools.web.charsets import text_of
from tools.web.kinds import Kind
from tools.web.wiki_text import article_text

_MAX_CHARS = 5_000_000
_MAX_META_CHARS = 500
# Beyond this the metadata takes longer to find than it is worth.
_MAX_SEARCHED = 2 * 2**20
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_PDF_DATE = re.compile(rb"/CreationDate\s{0,9}\(D:(\d{4})(\d\d)(\d\d)")


class Readable(Frozen):
    """What a page says; all offsets count in `text`."""

    title: str = ""
    text: str
    date: str = ""
    """When it was published, as it says itself, as YYYY-MM-DD; empty if it does not."""
    author: str = ""


def readable(kind: Kind, address: str, charset: str, body: bytes) -> Readable:
    """The page as a reader would see it.

    Raises:
        BadInput: it is broken, or no text.
    """
    match kind:
        case Kind.HTML:
            found = _html(text_of(address, body, charset), address)
        case Kind.PDF:
            found = _pdf(address, body)
        case Kind.TEXT:
            found = Readable(text=text_of(address, body, charset))
        case Kind.WIKI:
            found = Readable(text=article_text(text_of(address, body, charset)))
    if len(found.text) > _MAX_CHARS:
        raise BadInput(f"{address!r} holds more than {_MAX_CHARS:,} characters of text")
    return found.model_copy(
        update={
            "title": _line(found.title) or _name_in(address),
            "author": _line(found.author),
            "text": cleaned(found.text),
        }
    )


def _html(html: str, address: str) -> Readable:
    read = read_html(html)
    known = _metadata(html, address)
    return Readable(
        title=known.get("title") or read.title,
        text=read.text,
        date=known.get("date", ""),
        author=known.get("author", ""),
    )


def _metadata(html: str, address: str) -> dict[str, str]:
    """Title, date and author where the page states them; a date is never guessed."""
    import trafilatura

    if len(html) > _MAX_SEARCHED:
        return {}
    try:
        found = trafilatura.extract_metadata(html, default_url=address, extensive=False)
    except Exception:  # it lets through whatever lxml and its own rules trip over
        return {}
    said = {name: getattr(found, name, None) for name in ("title", "date", "author")}
    kept = {name: value for name, value in said.items() if isinstance(value, str)}
    if not _DATE.fullmatch(kept.get("date", "")):
        kept.pop("date", None)
    return kept


def _pdf(address: str, body: bytes) -> Readable:
    read = read_pdf(address, body)
    found = _PDF_DATE.search(body[:2_000_000])
    return Readable(title=read.title, text=read.text, date=_day(found) if found else "")


def _day(found: re.Match[bytes]) -> str:
    try:
        return date(*map(int, found.groups())).isoformat()
    except ValueError:
        return ""


def _line(text: str) -> str:
    return " ".join(cleaned(text).split())[:_MAX_META_CHARS]


def _name_in(address: str) -> str:
    """The last part of the address's path, or its host."""
    path = address.partition("://")[2].partition("?")[0].rstrip("/")
    return _line(unquote(path.rpartition("/")[2]))
