"""The passages of an answer: where they stand as the tool says it, who gave them as we know it."""

import re
from dataclasses import dataclass
from datetime import date, datetime

from pydantic import JsonValue

from models.text import one_line
from models.tools import ReadPassage

_LARGEST_OFFSET = 2**30
_LONGEST_NAME = 1_000
"""Characters of an address, a title or a heading; longer ones cannot be indexed, or read."""
_LONGEST_ADDRESS_BYTES = 2_000
"""In UTF-8; PostgreSQL indexes addresses, and no more than 2,704 bytes of a row."""
_WEB = re.compile(r"https?://[^\s/]", re.IGNORECASE)
_PARTIAL_DATE = re.compile(r"\d{4}(-(0[1-9]|1[0-2]))?")


@dataclass(frozen=True)
class Giver:
    """The tool that gave an answer; `is_foreign`: its server does not come with Holdfast."""

    tool: str
    is_foreign: bool = False

    @property
    def via(self) -> str:
        return self.tool.partition(".")[0] if self.is_foreign else ""

    def address(self, told: str) -> str:
        """The address that a passage is cited by; empty where the tool told none.

        A server of the user's own cannot speak as another: what is no web address begins with its
        name, and what is one is kept, with the server named beside it wherever it is cited.
        """
        clean = one_line(told[: 2 * _LONGEST_NAME]).strip()
        if clean and self.is_foreign and not _WEB.match(clean):
            clean = f"{self.via}:{clean}"
        return clean[:_LONGEST_NAME].encode()[:_LONGEST_ADDRESS_BYTES].decode("utf-8", "ignore")


def own_address(address: str, via: str) -> str:
    """The address by which a server knows its document: without the name we put before it."""
    return address.removeprefix(f"{via}:") if via else address


def whole(text: str, giver: Giver) -> tuple[ReadPassage, ...]:
    """The answer of a tool that knows no documents, as one passage; none of an empty one."""
    if not text:
        return ()
    address = f"tool:{giver.tool}"
    return (ReadPassage(address=address, text=text, end=len(text), tool=giver.tool, via=giver.via),)


def passages_in(structured: JsonValue, giver: Giver) -> tuple[ReadPassage, ...] | None:
    """The passages of a server that knows documents; None if the answer is not of that shape."""
    items = structured.get("passages") if isinstance(structured, dict) else None
    if not isinstance(items, list):
        return None
    texts = [item for item in items if isinstance(item, dict) and isinstance(item.get("text"), str)]
    if len(texts) < len(items):
        return None
    return tuple(_passage(item, giver, number) for number, item in enumerate(texts, 1))


def _passage(item: dict[str, JsonValue], giver: Giver, number: int) -> ReadPassage:
    text, start = _string(item, "text"), item.get("start")
    begins = start if isinstance(start, int) and 0 <= start <= _LARGEST_OFFSET else 0
    return ReadPassage(
        address=giver.address(_string(item, "address")) or f"tool:{giver.tool}#{number}",
        title=_name(item, "title"),
        heading=_name(item, "heading"),
        date=_date(_string(item, "date")),
        text=text,
        start=begins,
        # Quotes are located by offset into `text`, so its length decides, whatever the server says.
        end=begins + len(text),
        tool=giver.tool,
        via=giver.via,
    )


def _date(told: str) -> str:
    """A year, a month, a day or a moment in ISO 8601, as it was told; anything else is dropped."""
    told = told.strip()[:40]
    if _PARTIAL_DATE.fullmatch(told):
        return told
    for read in (date.fromisoformat, datetime.fromisoformat):
        try:
            return read(told).isoformat()
        except ValueError:
            continue
    return ""


def _name(item: dict[str, JsonValue], key: str) -> str:
    return " ".join(one_line(_string(item, key)[:_LONGEST_NAME]).split())


def _string(item: dict[str, JsonValue], key: str) -> str:
    value = item.get(key)
    return value if isinstance(value, str) else ""
