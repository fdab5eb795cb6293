"""Read the passages of a tool answer, and name the tool and server that gave each passage."""

import re
from dataclasses import dataclass
from datetime import date, datetime

from pydantic import JsonValue

from holdfast.models.calls.tool_signatures import SourcePassage
from holdfast.models.text.terminal_text import single_line

_MAX_OFFSET = 2**30
_MAX_NAME_CHARS = 1_000
"""Characters of an address, a title or a heading."""
_MAX_ADDRESS_BYTES = 2_000
"""Bytes in UTF-8; PostgreSQL indexes at most 2,704 bytes of a row."""
_WEB = re.compile(r"https?://[^\s/]", re.IGNORECASE)
_PARTIAL_DATE = re.compile(r"\d{4}(-(0[1-9]|1[0-2]))?")


@dataclass(frozen=True)
class AnswerSource:
    """The tool that gave an answer; `is_foreign` is true if its server is not built in."""

    tool: str
    is_foreign: bool = False

    @property
    def via(self) -> str:
        return self.tool.partition(".")[0] if self.is_foreign else ""

    def address(self, address: str) -> str:
        """Return the address that citations of a passage use; empty if the tool gave none.

        A configured server cannot forge another server's addresses: its name becomes the prefix of
        every address that is not a web address. A web address stays, and each citation names the
        server.
        """
        clean = single_line(address[: 2 * _MAX_NAME_CHARS]).strip()
        if clean and self.is_foreign and not _WEB.match(clean):
            clean = f"{self.via}:{clean}"
        return clean[:_MAX_NAME_CHARS].encode()[:_MAX_ADDRESS_BYTES].decode("utf-8", "ignore")


def without_server_prefix(address: str, via: str) -> str:
    """Return the server's own address of a document, without our prefix."""
    return address.removeprefix(f"{via}:") if via else address


def whole_answer_passage(text: str, source: AnswerSource) -> tuple[SourcePassage, ...]:
    """Return the whole answer of a tool without documents as one passage; () if it is empty."""
    if not text:
        return ()
    address = f"tool:{source.tool}"
    return (
        SourcePassage(address=address, text=text, end=len(text), tool=source.tool, via=source.via),
    )


def structured_passages(
    structured: JsonValue, source: AnswerSource
) -> tuple[SourcePassage, ...] | None:
    """Return the passages of a structured answer; None if the answer has another shape."""
    items = structured.get("passages") if isinstance(structured, dict) else None
    if not isinstance(items, list):
        return None
    texts = [item for item in items if isinstance(item, dict) and isinstance(item.get("text"), str)]
    if len(texts) < len(items):
        return None
    return tuple(_passage(item, source, number) for number, item in enumerate(texts, 1))


def _passage(item: dict[str, JsonValue], source: AnswerSource, number: int) -> SourcePassage:
    text, start = _string(item, "text"), item.get("start")
    begins = start if isinstance(start, int) and 0 <= start <= _MAX_OFFSET else 0
    return SourcePassage(
        address=source.address(_string(item, "address")) or f"tool:{source.tool}#{number}",
        title=_name(item, "title"),
        heading=_name(item, "heading"),
        date=_date(_string(item, "date")),
        text=text,
        start=begins,
        # Quotes are located by offset into `text`: its length overrides the server's `end`.
        end=begins + len(text),
        tool=source.tool,
        via=source.via,
    )


def _date(text: str) -> str:
    """Return the year, month, day or time if it is ISO 8601; else an empty string."""
    text = text.strip()[:40]
    if _PARTIAL_DATE.fullmatch(text):
        return text
    for read in (date.fromisoformat, datetime.fromisoformat):
        try:
            return read(text).isoformat()
        except ValueError:
            continue
    return ""


def _name(item: dict[str, JsonValue], key: str) -> str:
    return " ".join(single_line(_string(item, key)[:_MAX_NAME_CHARS]).split())


def _string(item: dict[str, JsonValue], key: str) -> str:
    value = item.get(key)
    return value if isinstance(value, str) else ""
