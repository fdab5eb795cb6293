"""Normalize the metadata of a document, and read the YAML front matter of a Markdown file."""

import re
from collections.abc import Mapping
from datetime import date, datetime
from typing import NamedTuple, TypeAlias

from holdfast.planning.text.strict_yaml import load_strict_yaml

DocumentMetadata: TypeAlias = dict[str, str | list[str]]
"""A text or a list of texts by key in lower case; `date` is ISO 8601, at least a year."""

_MAX_KEYS = 40
_MAX_KEY = 60
_MAX_VALUE = 500
_MAX_VALUES = 50
_MAX_FRONT = 8_000  # characters; the loader takes 0.4 s at worst for that many
_FRONT = re.compile(r"\A\ufeff?---[ \t]*\n(.*?\n)(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_DAY = re.compile(r"(\d{4})(-\d{2})?(-\d{2})?")


class ParsedDocument(NamedTuple):
    """Title, text and metadata of a file; the title is empty if the file names none."""

    title: str
    text: str
    metadata: Mapping[str, object] = {}


def clean_metadata(raw: Mapping[str, object]) -> DocumentMetadata:
    """Return the metadata values that are short texts or lists of short texts."""
    metadata: DocumentMetadata = {}
    for key, value in raw.items():
        name = " ".join(str(key).split()).lower()
        kept = _kept(name, value)
        if kept and 0 < len(name) <= _MAX_KEY and len(metadata) < _MAX_KEYS:
            metadata[name] = kept
    return metadata


def read_front_matter(text: str) -> ParsedDocument:
    """Return a Markdown text with its YAML front matter as title and metadata.

    Invalid front matter stays in the text.
    """
    match = _FRONT.match(text[: _MAX_FRONT + 100])
    if match is None:
        return ParsedDocument("", text)
    try:
        metadata = load_strict_yaml(match[1])
    except ValueError:
        return ParsedDocument("", text)
    if not isinstance(metadata, dict):
        return ParsedDocument("", text)
    title = metadata.pop("title", "")
    return ParsedDocument(
        title if isinstance(title, str) else "", text[match.end() :].lstrip("\n"), metadata
    )


def _kept(name: str, value: object) -> str | list[str]:
    if isinstance(value, list | tuple):
        texts = [_text(item) for item in value[:_MAX_VALUES]]
        return [text for text in texts if text]
    text = _text(value)
    return _day(text) if name in ("date", "modified") else text


def _text(value: object) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case datetime():
            return value.date().isoformat()
        case date():
            return value.isoformat()
        case str() | int() | float():
            plain = str(value).replace("\0", " ").encode("utf-8", "replace").decode("utf-8")
            return " ".join(plain.split())[:_MAX_VALUE]
    return ""


def _day(text: str) -> str:
    """Return the date at the start of the text, else ""; date ranges compare as text."""
    match = _DAY.match(text)
    return match[0] if match else ""
